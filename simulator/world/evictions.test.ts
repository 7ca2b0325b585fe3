import { beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { type VirtualClock, createVirtualClock } from '../time/clock.ts';
import { kubeControllerManager } from './objects.ts';
import type { WorldShoot } from './shoot.ts';
import { type World, createWorld } from './world.ts';

let clock: VirtualClock;
let world: World;
let shoot: WorldShoot;

const start = (nodes: number, minimum = nodes): void => {
  world = createWorld({ clock, shoots: [{ name: 'a', pools: [{ name: 'worker', nodes, minimum }] }] });
  shoot = world.shoot('a');
};

beforeEach(() => {
  clock = createVirtualClock();
});

const names = (): readonly string[] => shoot.store.list(simKinds.Node).map(({ metadata }) => metadata.name);

const tainted = (effect: string): readonly string[] =>
  shoot.store
    .list(simKinds.Node)
    .filter(({ spec }) =>
      ((spec as { taints?: { key: string; effect: string }[] }).taints ?? []).some(
        (taint) => taint.key === 'node.kubernetes.io/unreachable' && taint.effect === effect,
      ),
    )
    .map(({ metadata }) => metadata.name);

const putPod = (name: string, nodeName: string, spec: object = {}): void => {
  shoot.store.put(simKinds.Pod, { metadata: { name, namespace: 'default' }, spec: { nodeName, ...spec } });
};

const terminating = (): readonly string[] =>
  shoot.store
    .list(simKinds.Pod)
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => metadata.name);

const minutes = (count: number): Promise<void> => clock.advance(count * 60_000);

describe('KCM', () => {
  it('taints silent nodes, one by one for eviction, and removes the taints when they are back', async () => {
    start(10);
    shoot.cutKubelets(names().slice(0, 3));
    await clock.advance(29_000);
    expect(tainted('NoSchedule')).toEqual([]);
    await clock.advance(21_000);
    expect(tainted('NoSchedule')).toEqual(names().slice(0, 3));
    expect(tainted('NoExecute').length).toBeLessThan(3);
    await clock.advance(30_000);
    expect(tainted('NoExecute')).toEqual(names().slice(0, 3));
    shoot.restoreKubelets();
    await clock.advance(30_000);
    expect([...tainted('NoSchedule'), ...tainted('NoExecute')]).toEqual([]);
  });

  it('evicts a pod after its toleration seconds, and the kubelet ends it when it is back', async () => {
    start(10);
    const [gone, there] = names() as [string, string];
    putPod('usual', gone);
    putPod('hasty', gone, {
      tolerations: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', tolerationSeconds: 30 }],
    });
    putPod('daemon', gone, { tolerations: [{ operator: 'Exists' }] });
    putPod('elsewhere', there);
    shoot.cutKubelets([gone]);
    await minutes(2);
    expect(terminating()).toEqual(['hasty']);
    await minutes(5);
    expect(terminating()).toEqual(['hasty', 'usual']);
    shoot.restoreKubelets();
    await minutes(1);
    expect(shoot.store.list(simKinds.Pod).map(({ metadata }) => metadata.name)).toEqual(['daemon', 'elsewhere']);
  });

  it('evicts nothing while all nodes are silent, and starts when the first is back', async () => {
    start(5);
    const [first, ...others] = names() as [string, ...string[]];
    shoot.cutKubelets();
    await minutes(2);
    expect(tainted('NoSchedule')).toHaveLength(5);
    expect(tainted('NoExecute')).toEqual([]);
    shoot.restoreKubelets();
    shoot.cutKubelets(others.slice(0, 2));
    await minutes(2);
    expect(tainted('NoExecute')).toEqual(others.slice(0, 2));
    expect(tainted('NoSchedule')).not.toContain(first);
  });

  it('evicts nothing while most nodes of a small shoot are silent', async () => {
    start(10);
    shoot.cutKubelets(names().slice(0, 8));
    await minutes(3);
    expect(tainted('NoSchedule')).toHaveLength(8);
    // Before the third node was Unknown, the zone counted as healthy.
    expect(tainted('NoExecute').length).toBeLessThanOrEqual(2);
  });

  it('taints and evicts nothing while it is scaled down', async () => {
    start(10);
    world.store.patch(simKinds.Deployment, { namespace: shoot.namespace, name: kubeControllerManager }, (old) => ({
      ...old,
      spec: { ...(old.spec as object), replicas: 0 },
    }));
    await clock.advance(5_000);
    putPod('usual', names()[0]!);
    shoot.cutKubelets(names().slice(0, 2));
    await minutes(8);
    expect([...tainted('NoSchedule'), ...terminating()]).toEqual([]);
  });
});

describe('the cluster-autoscaler', () => {
  const machines = (): number => world.store.list(simKinds.Machine, shoot.namespace).length;
  /** Keeps MCM from replacing the machines. */
  const stopMachineController = (): void => {
    world.store.remove(simKinds.Deployment, { namespace: shoot.namespace, name: 'machine-controller-manager' });
  };

  it('removes nodes that are unready for 20 minutes, down to the minimum', async () => {
    start(10, 9);
    stopMachineController();
    const [first, second] = names() as [string, string];
    shoot.cutKubelets([first, second]);
    await minutes(19);
    expect(machines()).toBe(10);
    await minutes(5);
    expect(machines()).toBe(9);
    expect(names()).toHaveLength(9);
    expect(names().includes(first) && names().includes(second)).toBe(false);
  });

  it('halts when too many are unready', async () => {
    start(10, 1);
    stopMachineController();
    shoot.cutKubelets(names().slice(0, 5));
    await minutes(30);
    expect(machines()).toBe(10);
  });

  it('restarts its timers if it was scaled down meanwhile', async () => {
    start(10, 1);
    stopMachineController();
    shoot.cutKubelets(names().slice(0, 1));
    await minutes(15);
    for (const replicas of [0, 1]) {
      world.store.patch(simKinds.Deployment, { namespace: shoot.namespace, name: 'cluster-autoscaler' }, (old) => ({
        ...old,
        spec: { ...(old.spec as object), replicas },
      }));
      await minutes(1);
    }
    await minutes(15);
    expect(machines()).toBe(10);
    await minutes(10);
    expect(machines()).toBe(9);
  });
});
