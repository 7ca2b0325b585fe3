import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type DeploymentChange, recordDeployments } from '../../simulator/harness/deployment-history.ts';
import { prober, startReplica } from '../../simulator/harness/replica.ts';
import type { TrafficListener } from '../../simulator/harness/server-connections.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { requestKind } from '../../simulator/network/counting.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { createWorld } from '../../simulator/world/world.ts';
import { decodeLease } from '../../src/kubernetes/api/lease.ts';

const shootCount = 250;
const nodes = 3;
/** Silence after which a shoot of three nodes counts as all silent, and the delay of the confirmation after it. */
const silentMs = gardenSettings.nodeMonitorGraceMs / 2;
const confirmMs = 2_000;
/** Defaults of `--kube-api-qps` and `--kube-api-burst`. */
const [qps, burst] = [5, 10];

interface Sent {
  readonly at: number;
  readonly priority: 'urgent' | 'ordinary';
  readonly verb: string;
  readonly resource: string;
}

/** A seed whose shoots fail together, and a prober with the rate limits of the real program. */
const create = () => {
  const clock = createVirtualClock();
  const shoots = Array.from({ length: shootCount }, (_, index) => ({ name: `s${String(index)}`, nodes }));
  const world = createWorld({ clock, shoots });
  /** Requests that passed the rate limiter to the seed's API server, in order. */
  const sent: Sent[] = [];
  const listenToSeed: TrafficListener = (request) => {
    sent.push({ at: clock.monotonic(), priority: request.priority ?? 'ordinary', ...requestKind(request) });
    return { serving: () => () => undefined, ended: () => undefined };
  };
  const replica = startReplica(
    prober(),
    { world, clock },
    {
      settings: gardenSettings,
      listen: (server) => (server === 'seed' ? listenToSeed : undefined),
    },
  );
  return { clock, world, changes: recordDeployments(world.store, clock), sent, replica };
};

/** Monotonic time at which all leases of a shoot count as silent if no kubelet renews any more. */
const thresholdOf = ({ store }: WorldShoot, clock: VirtualClock): number => {
  const renewals = store
    .list(simKinds.Lease)
    .map((lease) => decodeLease(lease, 'lease').renewTime! / 1_000)
    .sort((a, b) => a - b);
  return renewals.at(-1)! + silentMs - (clock.now() - clock.monotonic());
};

/** Maximum number of requests in any period beyond those that a bucket of `burst` tokens would have allowed. */
const mostBeyondTheLimit = (sent: readonly Sent[]): number => {
  const times = sent.filter(({ priority, verb }) => priority === 'ordinary' && verb !== 'watch').map(({ at }) => at);
  let level = 0;
  let most = Number.NEGATIVE_INFINITY;
  times.forEach((at, index) => {
    level = Math.max(0, level - ((at - (times[index - 1] ?? at)) * qps) / 1_000) + 1;
    most = Math.max(most, level - burst);
  });
  return most;
};

const downWrites = (changes: readonly DeploymentChange[]): readonly DeploymentChange[] =>
  changes.filter(({ from, to }) => from === 1 && to === 0);
const upWrites = (changes: readonly DeploymentChange[]): readonly DeploymentChange[] =>
  changes.filter(({ from, to }) => from === 0 && to === 1);

/** Time limit of the restoration. Scale-ups alone take three writes per shoot at five a second: 150 s. */
const restorationLimitMs = 400_000;

it(`the outage of ${String(shootCount)} shoots at once, behind the rate limit, costs no node`, async () => {
  const { clock, world, changes, sent, replica } = create();
  const metrics = () => replica.meter.metricsText();

  // All shoots are probed soon, without a long queue at the seed and without a failed run.
  for (let seconds = 0; seconds < 120; seconds += 4) {
    await clock.advance(4_000);
    const waiting = /dwd_kube_rate_limit_waiting\{[^}]*\} (\d+)/.exec(await metrics())?.[1];
    // Five pass each second.
    expect(Number(waiting)).toBeLessThanOrEqual(60);
  }
  const runs = (await metrics()).matchAll(/dwd_prober_runs_total\{[^}]*result="(\w+)"/g);
  expect(new Set(Array.from(runs, ([, result]) => result))).toEqual(new Set(['healthy']));
  expect((await metrics()).match(/dwd_prober_candidate_leases\{[^}]*\} 3/g)).toHaveLength(shootCount);
  expect(changes).toEqual([]);

  // All shoots fall silent at once. Each is scaled down within 3 s after the second observation of its silence, and not before.
  for (const shoot of world.shoots) shoot.cutKubelets();
  const thresholds = new Map(world.shoots.map((shoot) => [shoot.namespace, thresholdOf(shoot, clock)]));
  await clock.advance(60_000);
  const delays = downWrites(changes).map(({ at, namespace }) => at - thresholds.get(namespace)!);
  expect(delays).toHaveLength(3 * shootCount);
  // The API server stamps renewals in whole seconds.
  expect(Math.min(...delays)).toBeGreaterThan(confirmMs - 1_000);
  expect(Math.max(...delays)).toBeLessThan(confirmMs + 3_000);

  // The kubelets return. Every shoot is restored, although every run lists its machines.
  for (const shoot of world.shoots) shoot.restoreKubelets();
  const restoredAt = clock.monotonic();
  const isOver = (): boolean =>
    upWrites(changes).length === 3 * shootCount || clock.monotonic() > restoredAt + restorationLimitMs;
  await clock.runUntil(isOver);
  expect([upWrites(changes).length, changes.length]).toEqual([3 * shootCount, 6 * shootCount]);

  // Scale-downs were urgent, scale-ups ordinary; reads and Events included, nothing went beyond the rate limit.
  const patches = sent.filter(({ verb }) => verb === 'patch');
  const priorities = (from: number, to: number): readonly string[] => [
    ...new Set(patches.filter(({ at }) => at >= from && at < to).map(({ priority }) => priority)),
  ];
  expect(priorities(0, restoredAt)).toEqual(['urgent']);
  expect(priorities(restoredAt, Number.POSITIVE_INFINITY)).toEqual(['ordinary']);
  expect(mostBeyondTheLimit(sent)).toBeLessThanOrEqual(1e-6);

  // No node is lost, and no machine.
  const impacts = world.shoots.map((shoot) => shoot.impact());
  expect(new Set(impacts.map((impact) => JSON.stringify(impact)))).toEqual(
    new Set([JSON.stringify({ nodesTurnedUnknown: 0, machinesReplaced: 0 })]),
  );
  replica.stop();
  await clock.run(replica.ended);
  world.stop();
}, 300_000);
