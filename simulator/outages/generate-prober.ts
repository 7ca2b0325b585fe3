import { clusterAutoscaler } from '../world/index.ts';
import { type Draw, type Story, clipped, lasting, nodesOf } from './draw.ts';
import type { Fault, Plan, PlannedFault, PlannedShoot } from './plan.ts';
import { anyFault, deployments, unreachableModes } from './prober-faults.ts';

const plannedShoot = (draw: Draw, name: string): PlannedShoot => {
  const replicas = Object.fromEntries(deployments.map((deployment) => [deployment, draw.between(1, 3)]));
  return {
    name,
    nodes: draw.chance(0.75) ? nodesOf : draw.between(1, nodesOf),
    replicas: draw.chance(0.15) ? { ...replicas, [clusterAutoscaler]: 0 } : replicas,
    // Only Gardener's Clusters have a grace period of their own.
    ...(draw.chance(0.1) && draw.source === undefined ? { graceMs: draw.of([24_000, 80_000]) } : {}),
  };
};

const outage = (draw: Draw, { at, forMs }: Omit<PlannedFault, 'fault'>): PlannedFault => {
  const shoot = draw.chance(0.5) ? undefined : draw.shoot();
  return { at, forMs, fault: { kind: 'load-balancer', shoot, how: draw.of(unreachableModes) } };
};

/** Any faults at any time. */
const chaos = (draw: Draw): Story => {
  const faults = Array.from({ length: draw.between(1, 7) }, () => {
    return { at: draw.between(0, 145_000), forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { faultsMs: 150_000, quietMs: 90_000, faults };
};

/** An outage against which the prober must protect, after all other faults are over. */
const plainOutage = (draw: Draw): Story => {
  const [calmMs, faultsMs] = [50_000, 200_000];
  const before = Array.from({ length: draw.between(0, 2) }, () => {
    const at = draw.between(0, calmMs);
    return { at, forMs: Math.min(lasting(draw), calmMs - at), fault: anyFault(draw) };
  });
  const forMs = draw.between(50_000, 80_000);
  return {
    faultsMs,
    quietMs: 60_000,
    faults: [...before, outage(draw, { at: faultsMs - forMs, forMs })],
  };
};

/** An outage, and more faults near the threshold or during the restoration. */
const troubledOutage = (draw: Draw): Story => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(38_000, 75_000);
  const end = at + forMs;
  const faults = Array.from({ length: draw.between(1, 4) }, () => {
    const begin = draw.chance(0.5) ? draw.between(at + 22_000, at + 42_000) : draw.between(end - 5_000, end + 50_000);
    return { at: begin, forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { faultsMs: end + 60_000, quietMs: 60_000, faults: [outage(draw, { at, forMs }), ...faults] };
};

/** The API server of a shoot is down: no kubelet can renew for a while, which must not cause a scale-down, and then all can. */
const absentApiServer = (draw: Draw): Story => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(16_000, 80_000);
  const away: Fault = { kind: 'api-server', server: draw.shoot(), trouble: { how: draw.of(['refused', 'silent']) } };
  const others = Array.from({ length: draw.between(0, 2) }, () => {
    return { at: draw.between(0, at + forMs + 30_000), forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { faultsMs: at + forMs + 60_000, quietMs: 60_000, faults: [{ at, forMs, fault: away }, ...others] };
};

/** The leader ends, is suspended or loses its connection to the seed at the worst time. */
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
    faultsMs: at + forMs + 60_000,
    quietMs: 60_000,
    faults: [
      { at, forMs, fault: { kind: 'load-balancer', shoot: undefined, how: draw.of(unreachableModes) } },
      ...faults,
    ],
    elected: true,
    latencyMs: draw.of([20, 300, 1_000]),
  };
};

/** Autoscalers scale the same Deployments as the watchdog, and an operator takes over one of them. */
const rivalry = (draw: Draw): Story => {
  const at = draw.between(5_000, 30_000);
  const forMs = draw.between(40_000, 70_000);
  const faultsMs = at + forMs + 60_000;
  const [shoot, everyMs] = [draw.shoot(), draw.of([300, 1_000, 3_000])];
  const rivals = deployments.map((deployment): PlannedFault => {
    return { at: 0, forMs: faultsMs, fault: { kind: 'autoscaler', shoot, deployment, everyMs } };
  });
  const takeover: PlannedFault = {
    at: draw.between(0, at + forMs),
    forMs: draw.between(10_000, 60_000),
    fault: { kind: 'ignore-scaling', shoot, deployment: draw.of(deployments) },
  };
  const faults: readonly PlannedFault[] = [
    { at, forMs, fault: { kind: 'load-balancer', shoot, how: draw.of(unreachableModes) } },
    ...rivals,
    takeover,
  ];
  return { faultsMs, quietMs: 60_000, faults };
};

const allNodes = Array.from({ length: nodesOf }, (_, node) => node);

/** The watchdog's own outbound network fails. Meanwhile kubelets of one or two shoots are silent, some for long enough to be protected. */
const ownWayOut = (draw: Draw): Story => {
  const at = draw.between(5_000, 30_000);
  const forMs = draw.between(60_000, 110_000);
  const away: Fault = draw.chance(0.5)
    ? { kind: 'public-way', shoot: undefined, how: draw.of(unreachableModes) }
    : { kind: 'partition', replica: draw.replica(), server: 'outside' };
  const cuts = Array.from({ length: draw.between(1, 2) }, (): PlannedFault => {
    const cut: Fault = { kind: 'nat-gateway', shoot: draw.shoot(), nodes: draw.chance(0.7) ? allNodes : draw.nodes() };
    const silentMs = draw.chance(0.7) ? draw.between(16_000, 28_000) : draw.between(40_000, 60_000);
    return { at: draw.between(at + 10_000, at + forMs - 20_000), forMs: silentMs, fault: cut };
  });
  return { faultsMs: at + forMs + 50_000, quietMs: 60_000, faults: [{ at, forMs, fault: away }, ...cuts] };
};

/** Kubelets are silent although the public address is reachable, at first or all the time. */
const wholePath = (draw: Draw): Story => {
  const [at, shoot] = [draw.between(5_000, 40_000), draw.shoot()];
  const forMs = draw.between(50_000, 90_000);
  const cut: Fault = { kind: 'nat-gateway', shoot, nodes: draw.chance(0.7) ? allNodes : draw.nodes() };
  const later: PlannedFault = {
    at: at + draw.between(20_000, 45_000),
    forMs: draw.between(5_000, 60_000),
    fault: draw.chance(0.6) ? { kind: 'public-way', shoot, how: draw.of(unreachableModes) } : anyFault(draw),
  };
  const faults = [{ at, forMs, fault: cut }, ...(draw.chance(0.6) ? [later] : [])];
  return { faultsMs: at + forMs + 60_000, quietMs: 60_000, faults };
};

/** The Secret of a held shoot is replaced, or absent for a while; or its Namespace is being deleted. */
const missingSecret = (draw: Draw): Story => {
  const [at, shoot] = [draw.between(5_000, 40_000), draw.shoot()];
  const forMs = draw.between(60_000, 100_000);
  const fault: Fault = draw.chance(0.2)
    ? { kind: 'namespace-deletion', shoot }
    : { kind: 'credentials', shoot, how: draw.of(['missing', 'missing', 'missing', 'replaced']) };
  const missing: PlannedFault = {
    at: at + draw.between(15_000, 60_000),
    forMs: draw.chance(0.5) ? draw.between(2_000, 55_000) : draw.between(62_000, 120_000),
    fault,
  };
  const cut: Fault = { kind: 'load-balancer', shoot, how: draw.of(unreachableModes) };
  const others = Array.from({ length: draw.between(0, 1) }, () => {
    return { at: draw.between(0, at + forMs), forMs: lasting(draw), fault: anyFault(draw) };
  });
  const faultsMs = Math.max(at + forMs, missing.at + missing.forMs) + 60_000;
  return { faultsMs, quietMs: 60_000, faults: [{ at, forMs, fault: cut }, missing, ...others] };
};

const usual = [chaos, plainOutage, troubledOutage, troubledOutage, absentApiServer, handover, rivalry] as const;

/** Draws the rest of a prober's plan. */
export const proberPlan = (draw: Draw, names: readonly string[]): Omit<Plan, 'seed' | 'replicas' | 'outside'> => {
  const scripts = [
    ...usual,
    ...(draw.hasOutside ? [ownWayOut, wholePath, wholePath] : []),
    ...(draw.source === 'secret' ? [missingSecret, missingSecret] : []),
  ] as const;
  const writeScript = draw.of(scripts);
  const { elected, ...story } = clipped(writeScript(draw));
  return {
    component: 'prober',
    shoots: names.map((name) => plannedShoot(draw, name)),
    elected: draw.replicas > 1 || elected === true || draw.chance(0.2),
    dryRun: draw.chance(0.03),
    latencyMs: draw.of([0, 20, 300]),
    ...story,
  };
};
