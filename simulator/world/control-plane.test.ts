import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { createVirtualClock } from '../time/clock.ts';
import { crashingAnnotation } from './objects.ts';
import { isLooping, readyReplicas, startPodWorld } from './testing/pods.ts';
import { createWorld } from './world.ts';

const minute = 60_000;
const apiserver = 'kube-apiserver';
const dependants = [
  'cluster-autoscaler',
  apiserver,
  'kube-controller-manager',
  'kube-scheduler',
  'machine-controller-manager',
];

describe('a control plane that lost etcd', () => {
  it('fails in order of dependency: kube-apiserver first, then the rest', async () => {
    const set = startPodWorld();
    const ready = (): readonly number[] => dependants.map((name) => readyReplicas(set, name));
    set.shoot.breakEtcd();
    expect(ready()).toEqual([1, 1, 1, 1, 1]);
    await set.clock.runUntil(() => readyReplicas(set, apiserver) === 0);
    expect(ready()).toEqual([1, 0, 1, 1, 1]);
    await set.clock.advance(12_000);
    expect(ready()).toEqual([0, 0, 0, 0, 0]);
    await set.clock.advance(60 * minute);
    expect(ready()).toEqual([0, 0, 0, 0, 0]);
  });

  it('has an API server that refuses connections until one of its pods is ready', async () => {
    const set = startPodWorld({ replicas: { [apiserver]: 2 } });
    const { clock, shoot } = set;
    shoot.breakEtcd();
    await clock.advance(12_000);
    expect(shoot.api.reachability).toBe('refused');
    shoot.mendEtcd();
    await clock.runUntil(() => readyReplicas(set, apiserver) === 1);
    expect(shoot.api.reachability).toBe('open');
  });

  it('leaves a path silent that was silenced meanwhile', async () => {
    const set = startPodWorld();
    const { clock, shoot } = set;
    shoot.breakEtcd();
    await clock.advance(12_000);
    shoot.api.setReachability('silent');
    shoot.mendEtcd();
    await clock.runUntil(() => readyReplicas(set, apiserver) === 1);
    expect(shoot.api.reachability).toBe('silent');
  });
});

it('a program that crashes by itself crash-loops although its dependencies are ready, as does its replacement, until it is repaired', async () => {
  const set = startPodWorld();
  const { clock, shoot, store } = set;
  const looping = (): readonly string[] =>
    store
      .list(simKinds.Pod, shoot.namespace)
      .filter(isLooping)
      .map(({ metadata }) => String(metadata.labels?.role));
  shoot.crash(['kube-scheduler', 'cluster-autoscaler']);
  expect(store.get(simKinds.Cluster, { name: shoot.namespace })?.metadata.annotations).toEqual({
    [crashingAnnotation]: 'kube-scheduler,cluster-autoscaler',
  });
  await clock.runUntil(() => looping().length === 2);
  expect(looping()).toEqual(['cluster-autoscaler', 'scheduler']);
  for (const pod of store.list(simKinds.Pod, shoot.namespace).filter(isLooping)) {
    store.delete(simKinds.Pod, pod.metadata, { gracePeriodSeconds: 0 });
  }
  expect(looping()).toEqual([]);
  await clock.runUntil(() => looping().length === 2);
  shoot.crash([]);
  await clock.advance(minute);
  expect(dependants.map((name) => readyReplicas(set, name))).toEqual([1, 1, 1, 1, 1]);
});

describe('a world with control plane pods', () => {
  it('writes nothing while nothing changes', async () => {
    const { clock, store } = startPodWorld();
    await clock.advance(minute);
    const { revision } = store;
    await clock.advance(60 * minute);
    expect(store.revision).toBe(revision);
  });

  it('has pods only for the shoots with `controlPlanePods`', () => {
    const clock = createVirtualClock();
    const world = createWorld({ clock, shoots: [{ name: 'a' }, { name: 'b', controlPlanePods: true }] });
    expect(world.store.list(simKinds.Pod, world.shoot('a').namespace)).toEqual([]);
    expect(world.store.list(simKinds.Pod, world.shoot('b').namespace)).toHaveLength(6);
  });
});
