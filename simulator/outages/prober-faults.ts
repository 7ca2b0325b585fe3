import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../world/index.ts';
import { type Draw, apiFault, pick } from './draw.ts';
import type { Fault } from './plan.ts';
import { otherSettings } from './world-settings.ts';

export const deployments = [kubeControllerManager, machineControllerManager, clusterAutoscaler] as const;
export const unreachableModes = ['refused', 'silent'] as const;

/** Draws the error of a clock in milliseconds: small or large, ahead or behind. */
const skew = (draw: Draw): number => draw.of([-1, 1]) * draw.of([900, 4_000, 25_000, 60_000, 3_600_000]);

const faults: Parameters<typeof pick<Fault>>[1] = [
  [
    8,
    (draw) => ({
      kind: 'load-balancer',
      shoot: draw.chance(0.7) ? draw.shoot() : undefined,
      how: draw.of(unreachableModes),
    }),
  ],
  [3, (draw) => ({ kind: 'nat-gateway', shoot: draw.shoot(), nodes: draw.nodes() })],
  [6, (draw) => ({ kind: 'api-server', server: draw.server(), trouble: apiFault(draw) })],
  [2, (draw) => ({ kind: 'partition', replica: draw.replica(), server: draw.server() })],
  [1, (draw) => ({ kind: 'dns', replica: draw.replica(), server: draw.server() })],
  [2, (draw) => ({ kind: 'lost-answers', how: draw.of(['reset', 'drop']), part: draw.of([0.3, 1]) })],
  [1, () => ({ kind: 'compaction' })],
  [1, (draw) => ({ kind: 'node-clock', shoot: draw.shoot(), nodes: draw.nodes(), ms: skew(draw) })],
  [1, (draw) => ({ kind: 'watchdog-clock', replica: draw.replica(), ms: skew(draw) })],
  [1, (draw) => ({ kind: 'api-server-clock', server: draw.shoot(), ms: skew(draw) })],
  [
    1,
    (draw) => ({
      kind: 'credentials',
      shoot: draw.shoot(),
      how: draw.of(['expired', 'rotated', 'broken', 'missing']),
    }),
  ],
  [3, (draw) => ({ kind: 'kill', replica: draw.replica() })],
  [1, (draw) => ({ kind: 'stop', replica: draw.replica() })],
  [2, (draw) => ({ kind: 'pause', replica: draw.replica() })],
  [
    4,
    (draw) => ({
      kind: 'autoscaler',
      shoot: draw.shoot(),
      deployment: draw.of(deployments),
      everyMs: draw.of([300, 2_000, 10_000]),
    }),
  ],
  [4, (draw) => ({ kind: 'ignore-scaling', shoot: draw.shoot(), deployment: draw.of(deployments) })],
];

/** Faults of Gardener's objects. */
const gardenFaults: typeof faults = [
  [1, (draw) => ({ kind: 'hibernation', shoot: draw.shoot() })],
  [1, (draw) => ({ kind: 'deletion', shoot: draw.shoot() })],
  [1, (draw) => ({ kind: 'no-workers', shoot: draw.shoot() })],
  [1, (draw) => ({ kind: 'cluster-gone', shoot: draw.shoot() })],
  [
    2,
    (draw) => ({
      kind: 'not-candidates',
      shoot: draw.shoot(),
      nodes: draw.nodes(),
      how: draw.of(['machine-failed', 'unmanaged', 'unhealthy']),
    }),
  ],
];

const lastFaults: typeof faults = [
  [1, (draw) => ({ kind: 'reload', settings: draw.random.integer(otherSettings.length) })],
];

/** Faults of plans with an external probe. */
const outsideFaults: Parameters<typeof pick<Fault>>[1] = [
  [
    4,
    (draw) => ({
      kind: 'public-way',
      shoot: draw.chance(0.7) ? draw.shoot() : undefined,
      how: draw.of(unreachableModes),
    }),
  ],
  [1, (draw) => ({ kind: 'partition', replica: draw.replica(), server: 'outside' })],
  [1, (draw) => ({ kind: 'dns', replica: draw.replica(), server: 'outside' })],
];

/** Faults with the cluster source `secret`, in place of those of Gardener's objects. */
const secretFaults: typeof faults = [
  [3, (draw) => ({ kind: 'credentials', shoot: draw.shoot(), how: draw.of(['missing', 'missing', 'replaced']) })],
  [1, (draw) => ({ kind: 'namespace-deletion', shoot: draw.shoot() })],
  [
    2,
    (draw) => ({
      kind: 'not-candidates',
      shoot: draw.shoot(),
      nodes: draw.nodes(),
      how: draw.of(['unhealthy', 'tainted', 'deleted']),
    }),
  ],
];

/** All faults by cluster source. */
const faultsOf = {
  gardener: [...faults, ...gardenFaults, ...lastFaults],
  secret: [...faults, ...secretFaults, ...lastFaults],
} as const;

export const anyFault = (draw: Draw): Fault =>
  draw.hasOutside && draw.chance(0.25) ? pick(draw, outsideFaults) : pick(draw, faultsOf[draw.source ?? 'gardener']);
