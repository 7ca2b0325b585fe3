import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { type VirtualClock, createVirtualClock } from '../time/clock.ts';
import { type ShootInit, kubeControllerManager, machineControllerManager } from './objects.ts';
import type { WorldShoot } from './shoot.ts';
import { type World, type WorldOptions, createWorld } from './world.ts';

interface Set {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly shoot: WorldShoot;
}

const start = (options: Partial<WorldOptions> & { readonly shoot?: Partial<ShootInit> } = {}): Set => {
  const clock = createVirtualClock();
  const world = createWorld({ clock, shoots: [{ name: 'a', ...options.shoot }], ...options });
  return { clock, world, shoot: world.shoot('a') };
};

const statusOf = (object: unknown): Record<string, unknown> =>
  (object as { status?: Record<string, unknown> }).status ?? {};

const readyStates = ({ store }: WorldShoot): readonly string[] =>
  store
    .list(simKinds.Node)
    .map((node) => statusOf(node).conditions as { type: string; status: string }[])
    .map((conditions) => conditions.find(({ type }) => type === 'Ready')!.status);

const leaseAges = (clock: VirtualClock, { store }: WorldShoot): readonly number[] =>
  store
    .list(simKinds.Lease, 'kube-node-lease')
    .map((lease) => clock.now() - Date.parse((lease.spec as { renewTime: string }).renewTime));

const phases = (world: World, namespace: string): readonly string[] =>
  world.store
    .list(simKinds.Machine, namespace)
    .map((machine) => (statusOf(machine).currentStatus as { phase: string }).phase);

const scale = (world: World, shoot: WorldShoot, name: string, replicas: number): void => {
  world.store.patch(simKinds.Deployment, { namespace: shoot.namespace, name }, (old) => ({
    ...old,
    spec: { ...(old.spec as object), replicas },
  }));
};

it.each([
  [10_000, 40],
  [5_000, 20],
])('leases that kubelets renew every %i ms expire after %i s', (leaseRenewMs, leaseDurationSeconds) => {
  const { shoot } = start({ timing: { leaseRenewMs } });
  expect(shoot.store.list(simKinds.Lease, 'kube-node-lease')[0]?.spec).toMatchObject({ leaseDurationSeconds });
});

it('kubelets renew their leases every ten seconds, or up to four per cent later', async () => {
  const { clock, shoot } = start({ shoot: { nodes: 20 } });
  for (let step = 0; step < 60; step += 1) {
    await clock.advance(1_000);
    expect(Math.max(...leaseAges(clock, shoot))).toBeLessThanOrEqual(10_400);
  }
  expect(readyStates(shoot)).toEqual(Array.from({ length: 20 }, () => 'True'));
});

describe('node lifecycle controller', () => {
  it('marks every silent node Unknown within ten seconds after the grace period', async () => {
    const { clock, shoot } = start();
    await clock.advance(30_000);
    shoot.cutKubelets();
    // The oldest lease is at most one renewal interval old.
    await clock.advance(40_000 - 10_400);
    expect(readyStates(shoot)).not.toContain('Unknown');
    await clock.advance(10_400 + 2 * 5_000);
    expect(readyStates(shoot)).toEqual(Array.from({ length: 5 }, () => 'Unknown'));
    expect(shoot.impact().nodesTurnedUnknown).toBe(5);
  });

  it('does nothing while its Deployment has no ready replica, and restarts its timers when it has', async () => {
    const { clock, world, shoot } = start();
    await clock.advance(30_000);
    shoot.cutKubelets();
    await clock.advance(20_000);
    scale(world, shoot, kubeControllerManager, 0);
    await clock.advance(300_000);
    expect(readyStates(shoot)).not.toContain('Unknown');
    scale(world, shoot, kubeControllerManager, 1);
    // At least 0.8 times 8.2 s until KCM is ready, then a whole grace period.
    await clock.advance(6_500 + 40_000);
    expect(readyStates(shoot)).not.toContain('Unknown');
    await clock.advance(4_000 + 5_000);
    expect(readyStates(shoot)).toEqual(Array.from({ length: 5 }, () => 'Unknown'));
  });

  it('judges by its own observations, so that a node with a slow clock stays ready', async () => {
    const { clock, shoot } = start();
    const behind = (name: string): void => {
      shoot.store.patch(simKinds.Lease, { namespace: 'kube-node-lease', name }, (old) => {
        const spec = old.spec as { renewTime: string };
        const renewTime = `${spec.renewTime.slice(0, 3)}0${spec.renewTime.slice(4)}`;
        return renewTime === spec.renewTime ? old : { ...old, spec: { ...spec, renewTime } };
      });
    };
    const [first] = shoot.store.list(simKinds.Node);
    shoot.store.subscribe(simKinds.Lease, ({ object }) => {
      if (object.metadata.name === first!.metadata.name) behind(object.metadata.name);
    });
    await clock.advance(120_000);
    expect(shoot.impact().nodesTurnedUnknown).toBe(0);
  });
});

describe('machine controller', () => {
  const brief = { machineHealthTimeoutMs: 60_000, machineJoinMs: 30_000 };

  it('replaces one machine after the other, once its node has been Unknown for the health timeout', async () => {
    const { clock, world, shoot } = start({ timing: brief });
    await clock.advance(30_000);
    shoot.cutKubelets();
    await clock.advance(95_000);
    expect(phases(world, shoot.namespace)).not.toContain('Running');
    expect(shoot.impact().machinesReplaced).toBe(0);
    await clock.advance(60_000);
    expect(shoot.impact().machinesReplaced).toBe(1);
    expect(phases(world, shoot.namespace).filter((phase) => phase === 'Pending')).toHaveLength(1);
    // The new machine is cut off as well.
    expect(shoot.store.list(simKinds.Node)).toHaveLength(4);
    shoot.restoreKubelets();
    await clock.advance(60_000);
    expect(phases(world, shoot.namespace)).toEqual(Array.from({ length: 5 }, () => 'Running'));
    expect(readyStates(shoot)).toEqual(Array.from({ length: 5 }, () => 'True'));
  });

  it('replaces nothing while its Deployment is at 0, nor before KCM marks nodes Unknown', async () => {
    const { clock, world, shoot } = start({ timing: brief });
    scale(world, shoot, kubeControllerManager, 0);
    await clock.advance(10_000);
    shoot.cutKubelets();
    await clock.advance(300_000);
    expect(phases(world, shoot.namespace)).toEqual(Array.from({ length: 5 }, () => 'Running'));
    scale(world, shoot, kubeControllerManager, 1);
    scale(world, shoot, machineControllerManager, 0);
    await clock.advance(300_000);
    expect(readyStates(shoot)).toContain('Unknown');
    expect(shoot.impact().machinesReplaced).toBe(0);
  });

  it('keeps a machine whose node comes back in time', async () => {
    const { clock, world, shoot } = start({ timing: brief });
    await clock.advance(30_000);
    shoot.cutKubelets();
    await clock.advance(80_000);
    expect(phases(world, shoot.namespace)).toContain('Unknown');
    shoot.restoreKubelets();
    await clock.advance(120_000);
    expect(phases(world, shoot.namespace)).toEqual(Array.from({ length: 5 }, () => 'Running'));
    expect(shoot.impact().machinesReplaced).toBe(0);
  });
});

describe('Deployments', () => {
  /** Observed generation, replicas and ready replicas. The API server omits a count of 0. */
  const counts = (world: World, { namespace }: WorldShoot): readonly unknown[] => {
    const status = statusOf(world.store.get(simKinds.Deployment, { namespace, name: machineControllerManager }));
    return [status.observedGeneration, status.replicas ?? 0, status.readyReplicas ?? 0];
  };

  it('observe a change, lose their pods soon and get new ones later', async () => {
    const { clock, world, shoot } = start();
    scale(world, shoot, machineControllerManager, 0);
    expect(counts(world, shoot)).toEqual([1, 1, 1]);
    await clock.advance(250);
    expect(counts(world, shoot)).toEqual([2, 1, 1]);
    await clock.advance(650);
    expect(counts(world, shoot)).toEqual([2, 0, 0]);
    scale(world, shoot, machineControllerManager, 3);
    await clock.advance(6_000);
    expect(counts(world, shoot)).toEqual([3, 3, 0]);
    await clock.advance(4_000);
    expect(counts(world, shoot)).toEqual([3, 3, 3]);
  });

  it('follow the last change in the end, after any earlier ones', async () => {
    const { clock, world, shoot } = start();
    for (const replicas of [0, 2, 0, 4]) {
      scale(world, shoot, machineControllerManager, replicas);
      await clock.advance(replicas === 2 ? 3_000 : 100);
    }
    // Pods that an earlier change requested do not count for the last one.
    await clock.advance(6_000);
    expect(counts(world, shoot)).toEqual([5, 4, 1]);
    await clock.advance(14_000);
    expect(counts(world, shoot)).toEqual([5, 4, 4]);
  });
});
