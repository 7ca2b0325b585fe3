import {
  clusterAutoscaler,
  createSeededRandom,
  kubeControllerManager,
  machineControllerManager,
  type SeededRandom,
} from '../../sim/index.ts';
import type { ApiTrouble, Fault, Plan, PlannedFault, PlannedShoot } from './plan.ts';
import { otherSettings } from './world-settings.ts';

const deployments = [kubeControllerManager, machineControllerManager, clusterAutoscaler];
const shootNames = ['a', 'b', 'c'];
const nodesOf = 5;

/** Draws of one stream, in the words of this file. */
interface Draw {
  readonly random: SeededRandom;
  chance(part: number): boolean;
  between(low: number, high: number): number;
  of<const T>(items: readonly [T, ...T[]]): T;
  shoot(): string;
  server(): string;
  replica(): number;
  /** At least one. */
  nodes(): readonly number[];
  deployment(): string;
}

const createDraw = (random: SeededRandom, plan: { readonly shoots: number; readonly replicas: number }): Draw => {
  const of = <const T>(items: readonly [T, ...T[]]): T => items[random.integer(items.length)] ?? items[0];
  const shoot = (): string => shootNames[random.integer(plan.shoots)] ?? '';
  const chance = (part: number): boolean => random.next() < part;
  return {
    random,
    of,
    shoot,
    chance,
    between: (low, high) => Math.round(low + random.next() * (high - low)),
    server: () => (chance(0.5) ? 'seed' : shoot()),
    replica: () => random.integer(plan.replicas),
    nodes: () => {
      const least = random.integer(nodesOf);
      return Array.from({ length: nodesOf }, (_, node) => node).filter((node) => node === least || chance(0.4));
    },
    deployment: () => deployments[random.integer(deployments.length)] ?? '',
  };
};

const apiTrouble = (draw: Draw): ApiTrouble => {
  switch (draw.random.integer(6)) {
    case 0:
      return { how: 'refused' };
    case 5:
      return { how: 'silent' };
    case 1:
      return { how: 'slow', delayMs: draw.between(100, 8_000) };
    case 2:
      return { how: 'status', status: draw.of([401, 403, 500, 503]) };
    case 3:
      return { how: 'status', status: 429, ...(draw.chance(0.5) ? { retryAfter: draw.between(1, 20) } : {}) };
    default:
      return { how: 'flaky', part: draw.of([0.1, 0.3, 0.6]) };
  }
};

/** A clock is a little wrong or very wrong, ahead or behind. */
const skew = (draw: Draw): number => draw.of([-1, 1]) * draw.of([900, 4_000, 25_000, 60_000, 3_600_000]);

const weighted: readonly (readonly [weight: number, make: (draw: Draw) => Fault])[] = [
  [8, (draw) => ({ kind: 'load-balancer', shoot: draw.chance(0.7) ? draw.shoot() : undefined })],
  [3, (draw) => ({ kind: 'nat-gateway', shoot: draw.shoot(), nodes: draw.nodes() })],
  [6, (draw) => ({ kind: 'api-server', server: draw.server(), trouble: apiTrouble(draw) })],
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
      deployment: draw.deployment(),
      everyMs: draw.of([300, 2_000, 10_000]),
    }),
  ],
  [4, (draw) => ({ kind: 'ignore-scaling', shoot: draw.shoot(), deployment: draw.deployment() })],
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
  [1, (draw) => ({ kind: 'reload', settings: draw.random.integer(otherSettings.length) })],
];

const totalWeight = weighted.reduce((sum, [weight]) => sum + weight, 0);

const anyFault = (draw: Draw): Fault => {
  let rest = draw.random.next() * totalWeight;
  const found = weighted.find(([weight]) => {
    rest -= weight;
    return rest < 0;
  });
  return (found?.[1] ?? (() => ({ kind: 'compaction' }) as const))(draw);
};

const plannedShoot = (draw: Draw, name: string): PlannedShoot => {
  const replicas = Object.fromEntries(deployments.map((deployment) => [deployment, draw.between(1, 3)]));
  return {
    name,
    nodes: draw.chance(0.75) ? nodesOf : draw.between(1, nodesOf),
    replicas: draw.chance(0.15) ? { ...replicas, [clusterAutoscaler]: 0 } : replicas,
    ...(draw.chance(0.1) ? { graceMs: draw.of([24_000, 80_000]) } : {}),
  };
};

/** Long enough for an outage to be noticed, or a moment. */
const lasting = (draw: Draw): number => (draw.chance(0.3) ? draw.between(500, 8_000) : draw.between(8_000, 90_000));

const outage = (draw: Draw, { at, forMs }: Omit<PlannedFault, 'fault'>): PlannedFault => {
  const shoot = draw.chance(0.5) ? undefined : draw.shoot();
  return { at, forMs, fault: { kind: 'load-balancer', shoot } };
};

interface Story extends Pick<Plan, 'troubledMs' | 'quietMs' | 'faults'> {
  /** Where the story needs them. */
  readonly elected?: true;
  readonly latencyMs?: number;
}

/** Anything at any time. */
const chaos = (draw: Draw): Story => {
  const faults = Array.from({ length: draw.between(1, 7) }, () => {
    return { at: draw.between(0, 145_000), forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { troubledMs: 150_000, quietMs: 90_000, faults };
};

/** An outage such as the prober is there for, at a time when nothing else happens any more. */
const plainOutage = (draw: Draw): Story => {
  const [calmMs, troubledMs] = [50_000, 200_000];
  const before = Array.from({ length: draw.between(0, 2) }, () => {
    const at = draw.between(0, calmMs);
    return { at, forMs: Math.min(lasting(draw), calmMs - at), fault: anyFault(draw) };
  });
  const forMs = draw.between(50_000, 80_000);
  return { troubledMs, quietMs: 60_000, faults: [...before, outage(draw, { at: troubledMs - forMs, forMs })] };
};

/** An outage, and more when the threshold is near, or while what was scaled down comes back. */
const troubledOutage = (draw: Draw): Story => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(38_000, 75_000);
  const end = at + forMs;
  const faults = Array.from({ length: draw.between(1, 4) }, () => {
    const begin = draw.chance(0.5) ? draw.between(at + 22_000, at + 42_000) : draw.between(end - 5_000, end + 50_000);
    return { at: begin, forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { troubledMs: end + 60_000, quietMs: 60_000, faults: [outage(draw, { at, forMs }), ...faults] };
};

/** Nobody can renew for a while, which is no outage, and then everybody can. */
const absentApiServer = (draw: Draw): Story => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(16_000, 80_000);
  const away: Fault = { kind: 'api-server', server: draw.shoot(), trouble: { how: draw.of(['refused', 'silent']) } };
  const others = Array.from({ length: draw.between(0, 2) }, () => {
    return { at: draw.between(0, at + forMs + 30_000), forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { troubledMs: at + forMs + 60_000, quietMs: 60_000, faults: [{ at, forMs, fault: away }, ...others] };
};

/** The leader is gone, stands still or loses its way to the seed at the worst time. */
const handover = (draw: Draw): Story => {
  const at = draw.between(10_000, 30_000);
  const forMs = draw.between(45_000, 75_000);
  const replica = draw.replica();
  const faults = Array.from({ length: draw.between(1, 2) }, (): PlannedFault => {
    const kind = draw.of(['pause', 'pause', 'pause', 'kill', 'stop', 'partition']);
    const worst = draw.chance(0.7) ? draw.between(at + 20_000, at + 34_000) : at + forMs + draw.between(0, 50_000);
    const fault: Fault = kind === 'partition' ? { kind, replica, server: 'seed' } : { kind, replica };
    return { at: worst, forMs: draw.between(4_000, 40_000), fault };
  });
  return {
    troubledMs: at + forMs + 60_000,
    quietMs: 60_000,
    faults: [{ at, forMs, fault: { kind: 'load-balancer', shoot: undefined } }, ...faults],
    elected: true,
    latencyMs: draw.of([20, 300, 1_000]),
  };
};

/** Something scales what the watchdog scales, and an operator takes a part of it over. */
const rivalry = (draw: Draw): Story => {
  const at = draw.between(5_000, 30_000);
  const forMs = draw.between(40_000, 70_000);
  const troubledMs = at + forMs + 60_000;
  const [shoot, everyMs] = [draw.shoot(), draw.of([300, 1_000, 3_000])];
  const rivals = deployments.map((deployment): PlannedFault => {
    return { at: 0, forMs: troubledMs, fault: { kind: 'autoscaler', shoot, deployment, everyMs } };
  });
  const takeover: PlannedFault = {
    at: draw.between(0, at + forMs),
    forMs: draw.between(10_000, 60_000),
    fault: { kind: 'ignore-scaling', shoot, deployment: draw.deployment() },
  };
  const faults: readonly PlannedFault[] = [{ at, forMs, fault: { kind: 'load-balancer', shoot } }, ...rivals, takeover];
  return { troubledMs, quietMs: 60_000, faults };
};

/** The end of a fault is the end of all troubles at the latest. */
const clipped = ({ troubledMs, faults, ...story }: Story): Story => ({
  ...story,
  troubledMs,
  faults: faults
    .map((planned) => ({ ...planned, forMs: Math.min(planned.forMs, troubledMs - planned.at) }))
    .sort((a, b) => a.at - b.at),
});

/** The plan of a number: always the same one. */
export const generatePlan = (seed: number): Plan => {
  const random = createSeededRandom(`plan/${String(seed)}`);
  const replicas = random.next() < 0.3 ? 2 : 1;
  const draw = createDraw(random, { shoots: shootNames.length, replicas });
  const tell = draw.of([chaos, plainOutage, troubledOutage, troubledOutage, absentApiServer, handover, rivalry]);
  const { elected, ...story } = clipped(tell(draw));
  return {
    seed,
    shoots: shootNames.map((name) => plannedShoot(draw, name)),
    replicas,
    elected: replicas > 1 || elected === true || draw.chance(0.2),
    dryRun: draw.chance(0.03),
    latencyMs: draw.of([0, 20, 300]),
    ...story,
  };
};
