import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Reply } from './api.ts';
import { expectFailure, expectObject, made, topic } from './expectations.ts';
import { configMap, lease, machine, statefulSet, watermill, workload } from './fixtures.ts';
import type { Json } from './json.ts';

const { ConfigMap, Deployment, Lease, Machine, StatefulSet, Watermill } = simKinds;

export const createCases = topic('create', {
  'returns 201 with name, namespace, uid, resourceVersion and creation time': async (api) => {
    const made = expectObject(await api.create(api.at(ConfigMap), configMap('a', { k: 'v' })), 201);
    expect(made).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } });
    expect(made.metadata).toMatchObject({ name: 'a', namespace: api.namespace });
    expect(made.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(made.metadata).not.toHaveProperty('generation');
  },

  'a taken name is AlreadyExists, for built-in and custom kinds': async (api) => {
    await api.create(api.at(Deployment), workload('a'));
    const again = await api.create(api.at(Deployment), workload('a'));
    const details = { name: 'a', group: 'apps', kind: 'deployments' };
    expectFailure(again, {
      code: 409,
      reason: 'AlreadyExists',
      message: 'deployments.apps "a" already exists',
      details,
    });
    await api.create(api.at(Watermill), watermill('a'));
    expectFailure(await api.create(api.at(Watermill), watermill('a')), { code: 409, reason: 'AlreadyExists' });
  },

  'a missing namespace is NotFound, for built-in and custom kinds': async (api) => {
    const details = { name: 'no-such-namespace', kind: 'namespaces' };
    const failure = { code: 404, reason: 'NotFound', message: 'namespaces "no-such-namespace" not found', details };
    expectFailure(await api.create('/api/v1/namespaces/no-such-namespace/configmaps', configMap('a')), failure);
    const path = api.at(Machine).replace(api.namespace, 'no-such-namespace');
    expectFailure(await api.create(path, machine('a')), failure);
  },
});

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

export const generationCases = topic('generation', {
  'deployments: counts changes of spec and annotations, not of labels or status': async (api) => {
    const path = api.at(Deployment, 'a');
    const generation = async (reply: Promise<Reply>): Promise<number> => expectObject(await reply).metadata.generation;
    await made(api, api.at(Deployment), workload('a'));
    expect(await generation(api.patch(path, { metadata: { labels: { x: 'y' } } }))).toBe(1);
    expect(await generation(api.patch(path, { spec: { replicas: 2 } }))).toBe(2);
    expect(await generation(api.patch(`${path}/status`, { status: { replicas: 2 } }))).toBe(2);
    expect(await generation(api.patch(path, { spec: { replicas: 2 } }))).toBe(2);
    expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 0 } }));
    expect(await generation(api.get(path))).toBe(3);
    const annotations = { x: 'y' };
    expect(await generation(api.patch(path, { metadata: { annotations } }))).toBe(4);
    const both = { metadata: { annotations: { x: null } }, spec: { replicas: 1 } };
    expect(await generation(api.patch(path, both))).toBe(5);
    expect(await generation(api.patch(`${path}/status`, { metadata: { annotations } }))).toBe(5);
  },

  'stateful sets: counts changes of the spec, not of annotations': async (api) => {
    const path = api.at(StatefulSet, 'a');
    await made(api, api.at(StatefulSet), statefulSet('a'));
    const annotated = expectObject(await api.patch(path, { metadata: { annotations: { x: 'y' } } }));
    expect(annotated.metadata.generation).toBe(1);
    const after = expectObject(await api.patch(api.at(StatefulSet, 'a'), { spec: { replicas: 0 } }));
    expect(after.metadata.generation).toBe(2);
  },

  'custom kinds with status subresource: counts everything but metadata and status': async (api) => {
    const path = api.at(Watermill, 'a');
    const generation = async (reply: Promise<Reply>): Promise<number> => expectObject(await reply).metadata.generation;
    await made(api, api.at(Watermill), watermill('a'));
    expect(await generation(api.patch(path, { metadata: { labels: { x: 'y' } } }))).toBe(1);
    expect(await generation(api.patch(`${path}/status`, { status: { turning: 1 } }))).toBe(1);
    expect(await generation(api.patch(path, { spec: { wheel: { count: 5 } } }))).toBe(2);
    expect(await generation(api.patch(path, { other: { x: 1 } }))).toBe(3);
    expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 0 } }));
    expect(await generation(api.get(path))).toBe(4);
  },
});

const annotation = 'dependency-watchdog.gardener.cloud/replicas';

export const mergePatchCases = topic('merge patch', {
  'sets fields, replaces whole lists, and removes by null': async (api) => {
    await made(
      api,
      api.at(Machine),
      machine('a', { spec: { keep: 1, gone: 2, list: [1, 2], nested: { x: 1, y: 2 } } }),
    );
    const patch = { spec: { gone: null, list: [3], nested: { y: null, z: 3 } } };
    const after = expectObject(await api.patch(api.at(Machine, 'a'), patch));
    expect(after.spec).toEqual({ keep: 1, list: [3], nested: { x: 1, z: 3 } });
  },

  'annotations and the count of a deployment change in one request': async (api) => {
    const before = await made(api, api.at(Deployment), workload('a', { replicas: 3 }));
    const { resourceVersion } = before.metadata;
    const patch = { metadata: { resourceVersion, annotations: { [annotation]: '3' } }, spec: { replicas: 0 } };
    const after = expectObject(await api.patch(api.at(Deployment, 'a'), patch));
    expect([after.spec.replicas, after.metadata.annotations]).toEqual([0, { [annotation]: '3' }]);
  },

  'removing the last annotation leaves none': async (api) => {
    await made(api, api.at(ConfigMap), configMap('a', {}, { annotations: { x: 'y' } }));
    const after = expectObject(await api.patch(api.at(ConfigMap, 'a'), { metadata: { annotations: { x: null } } }));
    expect(after.metadata).not.toHaveProperty('annotations');
  },

  'a stale resourceVersion in the patch is a Conflict': async (api) => {
    const before = await made(api, api.at(Deployment), workload('a'));
    expectObject(await api.patch(api.at(Deployment, 'a'), { spec: { replicas: 2 } }));
    const { resourceVersion } = before.metadata;
    const reply = await api.patch(api.at(Deployment, 'a'), {
      metadata: { resourceVersion },
      spec: { replicas: 0 },
    });
    expectFailure(reply, { code: 409, reason: 'Conflict', details: { name: 'a', group: 'apps', kind: 'deployments' } });
    expect(expectObject(await api.get(api.at(Deployment, 'a'))).spec.replicas).toBe(2);
  },

  'a patch that changes nothing keeps the resourceVersion': async (api) => {
    const before = await made(api, api.at(Machine), machine('a', { spec: { x: 1 } }));
    for (const patch of [{}, { spec: { x: 1 } }, { spec: { none: null } }, { metadata: { labels: { none: null } } }]) {
      const after = expectObject(await api.patch(api.at(Machine, 'a'), patch));
      expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    }
  },
});

export const statusCases = topic('status', {
  'PATCH to status changes only the status, not the spec': async (api) => {
    await made(api, api.at(Deployment), workload('a'));
    const patch = { spec: { replicas: 9 }, status: { observedGeneration: 1, replicas: 1, readyReplicas: 1 } };
    const after = expectObject(await api.patch(api.at(Deployment, 'a', 'status'), patch));
    expect(after.spec.replicas).toBe(1);
    expect(after.status).toEqual({ observedGeneration: 1, replicas: 1, readyReplicas: 1 });
  },

  'counts of 0 are omitted in a deployment, but some are not in a stateful set': async (api) => {
    const up = { status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 } };
    const down = { status: { replicas: 0, readyReplicas: 0, availableReplicas: 0 } };
    await made(api, api.at(Deployment), workload('a'));
    await made(api, api.at(StatefulSet), statefulSet('a'));
    const statuses: unknown[] = [];
    for (const path of [api.at(Deployment, 'a', 'status'), api.at(StatefulSet, 'a', 'status')]) {
      expect(expectObject(await api.patch(path, up)).status).toEqual(up.status);
      statuses.push(expectObject(await api.patch(path, down)).status);
    }
    expect(statuses).toEqual([{}, { replicas: 0, availableReplicas: 0 }]);
  },

  'metadata through the status of a custom kind stays as it is': async (api) => {
    await made(api, api.at(Machine), machine('a', { metadata: { name: 'a', labels: { node: 'n' } } }));
    const patch = { metadata: { labels: { other: 'x' }, annotations: { y: 'z' } }, status: { x: 1 } };
    const after = expectObject(await api.patch(api.at(Machine, 'a', 'status'), patch));
    expect(after.metadata.labels).toEqual({ node: 'n' });
    expect(after.metadata).not.toHaveProperty('annotations');
    expect(after.status).toEqual({ x: 1 });
  },

  'a stale resourceVersion is a Conflict': async (api) => {
    const { resourceVersion } = (await made(api, api.at(Machine), machine('a'))).metadata;
    const set = (x: number): Promise<Reply> =>
      api.patch(api.at(Machine, 'a', 'status'), { metadata: { resourceVersion }, status: { x } });
    expectObject(await set(1));
    const again = await set(2);
    expectFailure(again, { code: 409, reason: 'Conflict' });
  },
});
