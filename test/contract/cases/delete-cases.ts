import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Api } from './api.ts';
import { expectFailure, expectObject, made } from './expectations.ts';
import { configMap, machine, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, Machine } = simKinds;

const gone = async (api: Api, path: string): Promise<void> => {
  expectFailure(await api.get(path), { code: 404, reason: 'NotFound' });
};

export const deleteCases = topic('delete', {
  'returns a Success Status that names the object, and deletes it': async (api) => {
    const { uid } = (await made(api, api.at(Deployment), workload('a'))).metadata;
    expect(expectObject(await api.remove(api.at(Deployment, 'a')))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', group: 'apps', kind: 'deployments', uid },
    });
    await gone(api, api.at(Deployment, 'a'));
  },

  'custom kinds return the same': async (api) => {
    const { uid } = (await made(api, api.at(Machine), machine('a'))).metadata;
    const status = expectObject(await api.remove(api.at(Machine, 'a')));
    expect(status).toMatchObject({
      status: 'Success',
      details: { name: 'a', group: 'machine.sapcloud.io', kind: 'machines', uid },
    });
  },

  'a missing object is NotFound': async (api) => {
    const details = { name: 'a', kind: 'configmaps' };
    expectFailure(await api.remove(api.at(ConfigMap, 'a')), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
      details,
    });
  },

  'a finalizer keeps the object, with a deletionTimestamp': async (api) => {
    const before = await made(api, api.at(Machine), machine('a', { metadata: { name: 'a', finalizers: ['x.io/a'] } }));
    const marked = expectObject(await api.remove(api.at(Machine, 'a')));
    expect(marked.kind).toBe('Machine');
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['x.io/a'], generation: 2 });
    expect(Date.parse(marked.metadata.deletionTimestamp)).toBeGreaterThan(0);
    expect(Number(marked.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    const again = expectObject(await api.remove(api.at(Machine, 'a')));
    expect(again).toEqual(marked);
  },

  'removing the last finalizer of a terminating object removes it': async (api) => {
    await made(api, api.at(ConfigMap), configMap('a', {}, { finalizers: ['x.io/a', 'x.io/b'] }));
    expectObject(await api.remove(api.at(ConfigMap, 'a')));
    expectObject(await api.patch(api.at(ConfigMap, 'a'), { metadata: { finalizers: ['x.io/b'] } }));
    expectObject(await api.get(api.at(ConfigMap, 'a')));
    expectObject(await api.patch(api.at(ConfigMap, 'a'), { metadata: { finalizers: null } }));
    await gone(api, api.at(ConfigMap, 'a'));
  },

  'the same name can be created again, as another object': async (api) => {
    const first = await made(api, api.at(ConfigMap), configMap('a'));
    expectObject(await api.remove(api.at(ConfigMap, 'a')));
    const second = await made(api, api.at(ConfigMap), configMap('a'));
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  },
});
