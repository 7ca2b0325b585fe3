import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Reply } from './api.ts';
import { expectFailure, expectObject, made } from './expectations.ts';
import { lease } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';

const { Lease } = simKinds;

export const updateCases = topic('update', {
  'PUT replaces the object and changes the resourceVersion': async (api) => {
    const before = await made(api, api.at(Lease), lease('a', { holderIdentity: 'x', leaseTransitions: 1 }));
    const after = expectObject(await api.put(api.at(Lease, 'a'), { ...before, spec: { holderIdentity: 'y' } }));
    expect(after.spec).toEqual({ holderIdentity: 'y' });
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.creationTimestamp).toBe(before.metadata.creationTimestamp);
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
    const before = await made(api, api.at(Lease), lease('a'));
    expectObject(await api.put(api.at(Lease, 'a'), { ...before, spec: { holderIdentity: 'x' } }));
    expectFailure(await api.put(api.at(Lease, 'a'), { ...before, spec: { holderIdentity: 'y' } }), {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on leases.coordination.k8s.io "a": the object has been modified; ' +
        'please apply your changes to the latest version and try again',
      details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases' },
    });
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
