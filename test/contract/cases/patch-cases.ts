import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { expectFailure, expectObject, made } from './expectations.ts';
import { configMap, machine, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, Machine } = simKinds;

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
