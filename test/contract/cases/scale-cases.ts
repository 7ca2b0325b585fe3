import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Api } from './api.ts';
import { expectFailure, expectObject, made, topic } from './expectations.ts';
import { etcd, statefulSet, watermill, workload } from './fixtures.ts';
import type { Json } from './json.ts';

const { Deployment, Etcd, ReplicaSet, StatefulSet, Watermill } = simKinds;

const scalable = [
  { kind: Deployment, body: workload },
  { kind: StatefulSet, body: statefulSet },
  { kind: ReplicaSet, body: workload },
  { kind: Etcd, body: (name: string) => etcd(name) },
  { kind: Watermill, body: (name: string) => watermill(name, { spec: { wheel: { count: 1 } } }) },
];

const eachScalable = async (
  api: Api,
  check: (path: string, before: Json, kind: (typeof scalable)[number]['kind']) => Promise<void>,
): Promise<void> => {
  for (const { kind, body } of scalable) {
    const before = await made(api, api.at(kind), body('a'));
    await check(api.at(kind, 'a'), before, kind);
  }
};

export const scaleCases = topic('scale', {
  'GET shows the count, the object and its version': async (api) => {
    await eachScalable(api, async (path, before) => {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = before.metadata;
      const scale = expectObject(await api.get(`${path}/scale`));
      expect(scale).toMatchObject({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        spec: { replicas: 1 },
        status: { replicas: 0 },
      });
      expect(scale.metadata).toEqual({ name, namespace, uid, resourceVersion, creationTimestamp });
    });
  },

  'a count of 0 is an empty spec': async (api) => {
    await eachScalable(api, async (path) => {
      expect(expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 0 } })).spec).toEqual({});
      expect(expectObject(await api.get(`${path}/scale`)).spec).toEqual({});
    });
    expect(expectObject(await api.get(api.at(Deployment, 'a'))).spec.replicas).toBe(0);
    expect(expectObject(await api.get(api.at(Watermill, 'a'))).spec.wheel.count).toBe(0);
  },

  'PATCH sets the count, changes the version and the generation, and returns the Scale': async (api) => {
    await eachScalable(api, async (path, before) => {
      const { resourceVersion } = before.metadata;
      const scale = expectObject(
        await api.patch(`${path}/scale`, { metadata: { resourceVersion }, spec: { replicas: 4 } }),
      );
      expect([scale.kind, scale.spec]).toEqual(['Scale', { replicas: 4 }]);
      const after = expectObject(await api.get(path));
      expect(after.metadata.resourceVersion).toBe(scale.metadata.resourceVersion);
      expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
      expect(after.metadata.generation).toBe(2);
    });
  },

  'a stale resourceVersion is a Conflict that names the resource': async (api) => {
    await eachScalable(api, async (path, before, kind) => {
      const { name, namespace, resourceVersion } = before.metadata;
      expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 2 } }));
      const stale = { metadata: { name, namespace, resourceVersion }, spec: { replicas: 0 } };
      const failure = { code: 409, reason: 'Conflict', details: { name: 'a', group: kind.group, kind: kind.resource } };
      expectFailure(await api.patch(`${path}/scale`, stale), failure);
      expect(expectObject(await api.get(`${path}/scale`)).spec.replicas).toBe(2);
    });
  },

  'the same count again keeps the version': async (api) => {
    await eachScalable(api, async (path) => {
      const set = async (): Promise<string> => {
        const scale = expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 3 } }));
        return scale.metadata.resourceVersion;
      };
      // The first write may still change the field's manager in `managedFields`.
      const first = await set();
      expect(await set()).toBe(first);
    });
  },

  'the status count is read from the path that the kind declares': async (api) => {
    await made(api, api.at(Watermill), watermill('a'));
    expectObject(await api.patch(api.at(Watermill, 'a', 'status'), { status: { turning: 2 } }));
    expect(expectObject(await api.get(api.at(Watermill, 'a', 'scale'))).status.replicas).toBe(2);
    await made(api, api.at(Deployment), workload('a'));
    expectObject(await api.patch(api.at(Deployment, 'a', 'status'), { status: { replicas: 3 } }));
    expect(expectObject(await api.get(api.at(Deployment, 'a', 'scale'))).status.replicas).toBe(3);
  },

  'a custom object without the count has no Scale, and gets one when the count is patched': async (api) => {
    await made(api, api.at(Etcd), etcd('a', { spec: {} }));
    const path = api.at(Etcd, 'a', 'scale');
    const message = 'the spec replicas field ".spec.replicas" does not exist';
    expectFailure(await api.get(path), {
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    });
    expect(expectObject(await api.patch(path, { spec: { replicas: 3 } })).spec.replicas).toBe(3);
    expect(expectObject(await api.get(api.at(Etcd, 'a'))).spec).toEqual({ replicas: 3 });
  },

  'a missing object is NotFound, with the name of the resource': async (api) => {
    for (const { kind } of scalable) {
      const details = { name: 'a', group: kind.group, kind: kind.resource };
      const failure = { code: 404, reason: 'NotFound', details };
      expectFailure(await api.get(api.at(kind, 'a', 'scale')), failure);
      expectFailure(await api.patch(api.at(kind, 'a', 'scale'), { spec: { replicas: 1 } }), failure);
    }
  },
});
