import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { expectObject } from './expectations.ts';
import { cluster, etcd, machine, pod, statefulSet, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { Cluster, Deployment, Lease, Machine, Pod, ReplicaSet, StatefulSet } = simKinds;

export const defaultCases = topic('defaults', {
  'workloads get generation 1, one replica and no status but zeros': async (api) => {
    const deployment = expectObject(
      await api.create(api.at(Deployment), { ...workload('a'), status: { replicas: 3 } }),
      201,
    );
    expect([deployment.metadata.generation, deployment.spec.replicas, deployment.status]).toEqual([1, 1, {}]);
    const set = expectObject(await api.create(api.at(StatefulSet), statefulSet('a')), 201);
    expect([set.metadata.generation, set.spec.replicas, set.status]).toEqual([
      1,
      1,
      { replicas: 0, availableReplicas: 0 },
    ]);
    const replicas = expectObject(await api.create(api.at(ReplicaSet), workload('a')), 201);
    expect([replicas.metadata.generation, replicas.spec.replicas, replicas.status]).toEqual([1, 1, { replicas: 0 }]);
  },

  'pods start Pending with grace period 30, whatever status is sent': async (api) => {
    const made = expectObject(await api.create(api.at(Pod), { ...pod('a'), status: { phase: 'Running' } }), 201);
    expect(made.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(made.spec).toMatchObject({ terminationGracePeriodSeconds: 30, restartPolicy: 'Always' });
    expect(made.metadata.generation).toBe(1);
  },

  'a custom kind with status subresource loses its status, one without keeps it': async (api) => {
    const made = expectObject(await api.create(api.at(Machine), machine('a', { status: { x: 1 } })), 201);
    expect(made).not.toHaveProperty('status');
    expect(made.metadata.generation).toBe(1);
    const plain = expectObject(await api.create(api.at(Cluster), cluster(api.namespace, { status: { x: 1 } })), 201);
    expect(plain.status).toEqual({ x: 1 });
    await api.remove(api.at(Cluster, api.namespace));
  },

  'embedded raw objects keep unknown fields and nulls': async (api) => {
    const spec = { shoot: { apiVersion: 'core.gardener.cloud/v1beta1', spec: { a: null, b: [1, { c: 'd' }] } } };
    const made = expectObject(await api.create(api.at(Cluster), cluster(api.namespace, { spec })), 201);
    expect(made.spec).toEqual(spec);
    await api.remove(api.at(Cluster, api.namespace));
  },

  'a namespace is Active, has the finalizer kubernetes and a label with its name': async (api) => {
    const found = expectObject(await api.get(`/api/v1/namespaces/${api.namespace}`));
    expect([found.status, found.spec]).toEqual([{ phase: 'Active' }, { finalizers: ['kubernetes'] }]);
    expect(found.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': api.namespace });
  },

  'leases and custom kinds without a spec are fine': async (api) => {
    expectObject(await api.create(api.at(Lease), { metadata: { name: 'a' } }), 201);
    const made = expectObject(await api.create(api.at(simKinds.Etcd), etcd('a', { spec: {} })), 201);
    expect(made.spec).toEqual({});
  },
});
