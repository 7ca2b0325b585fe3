import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { expectFailure, expectObject } from './expectations.ts';
import { configMap, machine, watermill, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, Machine, Watermill } = simKinds;

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
