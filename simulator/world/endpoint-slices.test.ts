import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { isServiceReady } from './endpoint-slices.ts';
import { endpointsOf, podOf, startPodWorld } from './testing/pods.ts';

const apiserver = 'kube-apiserver';

describe('endpoint slices', () => {
  it('name their service and its pods', () => {
    const set = startPodWorld();
    const slice = set.store
      .list(simKinds.EndpointSlice, set.shoot.namespace)
      .find(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'etcd-main-client');
    const { name, namespace, uid } = podOf(set, 'etcd-main').metadata;
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      metadata: { ownerReferences: [{ kind: 'Service', name: 'etcd-main-client', controller: true }] },
      endpoints: [
        {
          addresses: [expect.stringMatching(/^10\./)],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', name, namespace, uid },
        },
      ],
      ports: [{ port: 2379 }],
    });
  });

  it('follow the readiness of pods', async () => {
    const set = startPodWorld();
    expect([endpointsOf(set, 'etcd-main-client'), endpointsOf(set, apiserver)]).toEqual([['ready'], ['ready']]);
    set.shoot.breakEtcd();
    await set.clock.settle();
    expect(endpointsOf(set, 'etcd-main-client')).toEqual(['not ready']);
    await set.clock.advance(12_000);
    expect(endpointsOf(set, apiserver)).toEqual(['not ready']);
    set.shoot.mendEtcd();
    await set.clock.advance(10_000);
    expect(endpointsOf(set, 'etcd-main-client')).toEqual(['ready']);
  });

  it('show a terminating pod, and its replacement once that has an address', async () => {
    const set = startPodWorld();
    set.store.delete(simKinds.Pod, podOf(set, apiserver).metadata);
    expect(endpointsOf(set, apiserver)).toEqual(['not ready, ending']);
    await set.clock.advance(2_000);
    expect(endpointsOf(set, apiserver)).toEqual([]);
    await set.clock.advance(7_600);
    expect(endpointsOf(set, apiserver)).toEqual(['not ready']);
    await set.clock.advance(10_000);
    expect(endpointsOf(set, apiserver)).toEqual(['ready']);
  });

  it('store an empty list of endpoints as null, as the API server does', async () => {
    const set = startPodWorld();
    set.store.delete(simKinds.Pod, podOf(set, apiserver).metadata);
    await set.clock.advance(2_000);
    const slices = set.store.list(simKinds.EndpointSlice, set.shoot.namespace);
    expect(slices.map(({ endpoints }) => endpoints === null)).toEqual([false, true]);
  });
});

describe('a service', () => {
  const isReady = (slices: readonly (readonly object[] | null)[]): boolean => {
    const { shoot, store } = startPodWorld({ controlPlanePods: false });
    const { namespace } = shoot;
    for (const [index, endpoints] of slices.entries()) {
      const labels = { 'kubernetes.io/service-name': 'x' };
      const all = endpoints?.map((conditions) => ({ addresses: ['10.0.0.1'], conditions })) ?? null;
      store.put(simKinds.EndpointSlice, { metadata: { name: `x-${index}`, namespace, labels }, endpoints: all });
    }
    return isServiceReady(store, { namespace, name: 'x' });
  };

  it.each([
    { slices: [[{ ready: true }]] },
    { slices: [[{}]] },
    { slices: [[{ terminating: false }]] },
    { slices: [null, [{ ready: false }, { ready: true }]] },
  ])('is ready with $slices', ({ slices }) => {
    expect(isReady(slices)).toBe(true);
  });

  it.each([
    { slices: [] },
    { slices: [null] },
    { slices: [[]] },
    { slices: [[{ ready: false }], [{ ready: false }]] },
    { slices: [[{ ready: true, terminating: true }]] },
    { slices: [[{ terminating: true }]] },
  ])('is not ready with $slices', ({ slices }) => {
    expect(isReady(slices)).toBe(false);
  });
});
