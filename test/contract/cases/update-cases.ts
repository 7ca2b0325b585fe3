import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Reply } from './api.ts';
import { causesOf, expectFailure, expectObject, made } from './expectations.ts';
import { configMap, endpointSlice, lease, machine, watermill, workload } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, EndpointSlice, Lease, Machine, Watermill } = simKinds;

const withMeta = (object: Json, meta: Readonly<Record<string, unknown>>): Json => ({
  ...object,
  metadata: { ...object.metadata, ...meta },
});

export const updateCases = topic('update', {
  'PUT replaces the object and changes the resourceVersion': async (api) => {
    const before = await made(api, api.at(ConfigMap), configMap('a', { x: '1', y: '2' }));
    const after = expectObject(await api.put(api.at(ConfigMap, 'a'), { ...before, data: { z: '3' } }));
    expect(after.data).toEqual({ z: '3' });
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.creationTimestamp).toBe(before.metadata.creationTimestamp);
  },

  'a PUT that changes nothing keeps the resourceVersion': async (api) => {
    const before = await made(api, api.at(Deployment), workload('a'));
    const after = expectObject(await api.put(api.at(Deployment, 'a'), before));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(after.metadata.generation).toBe(1);
  },

  'stamps each change of a field with its own clock, whatever the value says': async (api) => {
    const at = api.at(Lease, 'a');
    const stampOf = ({ metadata }: Json): number =>
      Math.max(
        ...metadata.managedFields
          .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('"f:renewTime"'))
          .map(({ time }) => Date.parse(time)),
      );
    const dateOf = ({ headers }: Reply): number => Date.parse(headers.date ?? '');
    const stamped = async (renewTime: string): Promise<void> => {
      const before = await api.get(at);
      const reply = await api.put(at, { ...before.json, spec: { holderIdentity: 'x', renewTime } });
      expect(Math.abs(stampOf(expectObject(reply)) - dateOf(reply))).toBeLessThanOrEqual(1_000);
    };
    await made(api, api.at(Lease), lease('a', { holderIdentity: 'x' }));
    await stamped('2026-11-21T05:55:00.123456Z');
    await stamped('2036-11-21T07:00:00.000000Z');
  },

  'a stale resourceVersion is a Conflict': async (api) => {
    const before = await made(api, api.at(Deployment), workload('a'));
    expectObject(await api.put(api.at(Deployment, 'a'), withMeta(before, { labels: { x: '1' } })));
    const reply = await api.put(api.at(Deployment, 'a'), withMeta(before, { labels: { x: '2' } }));
    expectFailure(reply, {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on deployments.apps "a": the object has been modified; ' +
        'please apply your changes to the latest version and try again',
      details: { name: 'a', group: 'apps', kind: 'deployments' },
    });
  },

  'a PUT without resourceVersion overwrites built-in kinds': async (api) => {
    await made(api, api.at(ConfigMap), configMap('a', { x: '1' }));
    expect(expectObject(await api.put(api.at(ConfigMap, 'a'), configMap('a', { x: '2' }))).data).toEqual({ x: '2' });
    await made(api, api.at(Deployment), workload('a'));
    expectObject(await api.put(api.at(Deployment, 'a'), workload('a', { replicas: 2 })));
    await made(api, api.at(EndpointSlice), endpointSlice('a'));
    expectObject(await api.put(api.at(EndpointSlice, 'a'), endpointSlice('a', { x: 'y' })));
  },

  'a PUT without resourceVersion is Invalid for custom kinds and leases': async (api) => {
    await made(api, api.at(Watermill), watermill('a'));
    const custom = await api.put(api.at(Watermill, 'a'), watermill('a', { spec: { wheel: { count: 3 } } }));
    expectFailure(custom, {
      code: 422,
      reason: 'Invalid',
      message: /resourceVersion: Invalid value: 0(x0)?: must be specified for an update$/,
    });
    expect(causesOf(custom)).toEqual([['FieldValueInvalid', 'metadata.resourceVersion']]);
    await made(api, api.at(Lease), lease('a'));
    const builtIn = await api.put(api.at(Lease, 'a'), lease('a', { holderIdentity: 'x' }));
    expectFailure(builtIn, { code: 422, reason: 'Invalid', message: /must be specified for an update$/ });
  },

  'another uid is a Conflict': async (api) => {
    const before = await made(api, api.at(ConfigMap), configMap('a'));
    const reply = await api.put(api.at(ConfigMap, 'a'), withMeta(before, { uid: 'other' }));
    expectFailure(reply, {
      code: 409,
      reason: 'Conflict',
      message: /UID in precondition: other, UID in object meta: /,
    });
  },

  'a PUT to a missing object is NotFound, with and without resourceVersion': async (api) => {
    const details = { name: 'a', kind: 'configmaps' };
    expectFailure(await api.put(api.at(ConfigMap, 'a'), configMap('a')), { code: 404, reason: 'NotFound', details });
    const versioned = { metadata: { name: 'a', resourceVersion: '3' } };
    expectFailure(await api.put(api.at(ConfigMap, 'a'), versioned), { code: 404, reason: 'NotFound', details });
    expectFailure(await api.put(api.at(Machine, 'a'), machine('a')), { code: 404, reason: 'NotFound' });
  },

  'PUT leaves the status of kinds with a status subresource alone': async (api) => {
    const before = await made(api, api.at(Machine), machine('a'));
    expectObject(await api.patch(api.at(Machine, 'a', 'status'), { status: { phase: 'Running' } }));
    const { resourceVersion } = expectObject(await api.get(api.at(Machine, 'a'))).metadata;
    const wanted = { ...withMeta(before, { resourceVersion, labels: { x: 'y' } }), status: { phase: 'Failed' } };
    expect(expectObject(await api.put(api.at(Machine, 'a'), wanted)).status).toEqual({ phase: 'Running' });
  },

  'of two writers with one resourceVersion exactly one wins': async (api) => {
    const before = await made(api, api.at(Lease), lease('a'));
    const claim = (holderIdentity: string): Promise<Reply> =>
      api.put(api.at(Lease, 'a'), { ...before, spec: { holderIdentity } });
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map(claim));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409, 409, 409]);
  },
});

const times: readonly (readonly [unknown, number])[] = [
  ['2026-01-01T00:00:00.123456Z', 200],
  ['2026-01-01T00:00:00.000000Z', 200],
  ['2026-01-01T02:00:00.000000+02:00', 200],
  ['2026-01-01T00:00:00Z', 400],
  ['2026-01-01T00:00:00.123Z', 400],
  ['2026-01-01T00:00:00.123456789Z', 400],
  ['2026-13-01T00:00:00.000000Z', 400],
  ['now', 400],
  [17, 400],
];

export const leaseCases = topic('leases', {
  'times have six fractional digits, or are refused': async (api) => {
    for (const [renewTime, status] of times) {
      const name = `case-${times.findIndex(([time]) => time === renewTime)}`;
      const reply = await api.create(api.at(Lease), lease(name, { holderIdentity: 'me', renewTime }));
      expect([renewTime, reply.status]).toEqual([renewTime, status === 200 ? 201 : status]);
      if (status !== 200) {
        expectFailure(reply, { code: 400, reason: 'BadRequest', message: /^Lease in version "v1" cannot be handled/ });
      }
    }
  },

  'times keep their microseconds': async (api) => {
    const spec = { renewTime: '2026-01-01T00:00:00.123456Z', acquireTime: '2026-01-01T00:00:00.000000Z' };
    expect((await made(api, api.at(Lease), lease('a', spec))).spec).toEqual(spec);
  },

  'an empty holder is kept': async (api) => {
    const { spec } = await made(
      api,
      api.at(Lease),
      lease('a', { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 }),
    );
    expect(spec).toEqual({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
  },
});
