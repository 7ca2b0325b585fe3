import { afterEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/index.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import {
  type SimulatedReplica,
  electionSettings,
  leaseNamespace,
  prober,
  startReplica,
} from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import type { ProberSettings } from '../../src/prober/config/settings.ts';
import { createStory } from './support/story.ts';

// Held resources of clusters that were deleted are restored by elected replicas, restarted ones, and those with a new configuration.

const settings: ProberSettings = { ...gardenSettings, clusterSource: { key: 'kubeconfig' } };

let scenario: Scenario;
let replicas: SimulatedReplica[];

const startReplicaNow = (standby: 'hot' | 'cold' = 'hot'): SimulatedReplica => {
  const replica = startReplica(prober(standby), scenario, {
    settings,
    leaderElection: electionSettings(true),
    random: createSeededRandom(replicas.length),
  });
  replicas.push(replica);
  return replica;
};

/** Creates one shoot and starts a leader that probes it. */
const begin = async (standby?: 'hot' | 'cold'): Promise<SimulatedReplica> => {
  replicas = [];
  scenario = createStory({ source: 'secret' });
  scenario.world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  const leader = startReplicaNow(standby);
  await scenario.clock.advance(60_000);
  return leader;
};
afterEach(async () => {
  for (const { process: machine } of replicas) machine.kill();
});

const shoot = () => scenario.world.shoot('a');

/** Replicas of KCM, MCM and cluster-autoscaler. */
const counts = (): readonly number[] =>
  ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'].map((name) => {
    const ref = { namespace: shoot().namespace, name };
    return (scenario.world.store.get(simKinds.Deployment, ref)?.spec as { readonly replicas: number }).replicas;
  });
const allHeld = [0, 0, 0];
const allUp = [1, 1, 1];

const hold = async (): Promise<void> => {
  shoot().cutKubelets();
  await scenario.clock.advance(60_000);
  expect(counts()).toEqual(allHeld);
};

/** Deletes the Secret by which the prober finds the cluster. Returns a function that creates it again. */
const lose = (): (() => void) => {
  const { store } = scenario.world;
  const ref = { namespace: shoot().namespace, name: kubeconfigSecretName };
  const { metadata, ...rest } = store.get(simKinds.Secret, ref)!;
  const { uid: _uid, resourceVersion: _version, ...kept } = metadata;
  store.remove(simKinds.Secret, ref);
  return () => void store.put(simKinds.Secret, { ...rest, metadata: kept });
};

/** Time from the loss of a cluster until its resources are restored. */
const givenBackAfterMs = 60_000;

describe('the held resources of a deleted cluster', () => {
  it('are restored completely by a standby that takes over in the middle', async () => {
    const leader = await begin();
    startReplicaNow();
    await scenario.clock.advance(60_000);
    await hold();
    lose();
    await scenario.clock.advance(givenBackAfterMs + 15_000);
    // KCM is restored, and MCM waits for its initialDelay.
    expect(counts()).toEqual([1, 0, 0]);
    leader.process.kill();
    await scenario.clock.advance(120_000);
    expect(counts()).toEqual(allUp);
  });

  it.each(['hot', 'cold'] as const)(
    'are restored by an elected replica that starts after the deletion (%s)',
    async (standby) => {
      const leader = await begin(standby);
      await hold();
      leader.process.kill();
      lose();
      await scenario.clock.advance(10_000);
      startReplicaNow(standby);
      await scenario.clock.advance(180_000);
      expect(counts()).toEqual(allUp);
    },
  );
});

describe('a Secret that is missing for less than a minute', () => {
  it.each([
    [
      'by a new configuration',
      () => {
        replicas[0]?.reload({ ...settings, probeIntervalMs: 5_000 });
      },
    ],
    [
      'by a process that starts',
      () => {
        replicas[0]?.process.kill();
        startReplicaNow();
      },
    ],
    [
      'by a standby that starts and takes over',
      () => {
        startReplicaNow();
        replicas[0]?.process.kill();
      },
    ],
  ])('releases no hold %s', async (_, change) => {
    await begin();
    await hold();
    const before = scenario.changes.length;
    const bringBack = lose();
    await scenario.clock.advance(10_000);
    change();
    await scenario.clock.advance(45_000);
    bringBack();
    await scenario.clock.advance(180_000);
    expect(scenario.changes.slice(before)).toEqual([]);
    shoot().restoreKubelets();
    await scenario.clock.advance(180_000);
    expect(counts()).toEqual(allUp);
    expect(shoot().impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
  });

  it('is awaited by a process that lists held resources only some time after its start', async () => {
    const leader = await begin();
    await hold();
    leader.process.kill();
    const bringBack = lose();
    const late = startReplicaNow();
    const startedAt = scenario.clock.monotonic();
    late.seedConnection.setFaults(({ path }) =>
      path.includes('/deployments') && scenario.clock.monotonic() < startedAt + 20_000 ? { status: 503 } : undefined,
    );
    const before = scenario.changes.length;
    await scenario.clock.advance(50_000);
    bringBack();
    await scenario.clock.advance(120_000);
    expect(scenario.changes.slice(before)).toEqual([]);
  });
});
