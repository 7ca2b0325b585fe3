import { beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { type VirtualClock, createVirtualClock } from '../time/clock.ts';
import type { WorldShoot } from './shoot.ts';
import { type World, createWorld } from './world.ts';

let clock: VirtualClock;
let world: World;
let shoot: WorldShoot;

const start = (nodes: number, minimum: number): void => {
  world = createWorld({ clock, shoots: [{ name: 'a', pools: [{ name: 'worker', nodes, minimum }] }] });
  shoot = world.shoot('a');
};

beforeEach(() => {
  clock = createVirtualClock();
});

const names = (): readonly string[] => shoot.store.list(simKinds.Node).map(({ metadata }) => metadata.name);
const minutes = (count: number): Promise<void> => clock.advance(count * 60_000);

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
