import {
  type WorldSource,
  clusterAutoscaler,
  kubeControllerManager,
  machineControllerManager,
} from '../world/index.ts';
import { type Draw, type Script, type Weighted, allNodes, apiFault, chaos, nodesOf } from './draw.ts';
import type { Fault, PlannedFault, PlannedShoot } from './plan.ts';
import { otherSettings } from './world-settings.ts';

const deployments = [kubeControllerManager, machineControllerManager, clusterAutoscaler] as const;
const modes = ['refused', 'silent'] as const;

/** Draws the error of a clock in milliseconds: small or large, ahead or behind. */
const skew = (d: Draw): number => d.of([-1, 1]) * d.of([900, 4_000, 25_000, 60_000, 3_600_000]);

const always: Weighted = [
  [8, (d) => ({ kind: 'load-balancer', shoot: d.shootOrAll(0.7), how: d.of(modes) })],
  [3, (d) => ({ kind: 'nat-gateway', shoot: d.shoot(), nodes: d.nodes() })],
  [6, (d) => ({ kind: 'api-server', server: d.server(), trouble: apiFault(d) })],
  [2, (d) => ({ kind: 'partition', replica: d.replica(), server: d.server() })],
  [1, (d) => ({ kind: 'dns', replica: d.replica(), server: d.server() })],
  [2, (d) => ({ kind: 'lost-answers', how: d.of(['reset', 'drop']), part: d.of([0.3, 1]) })],
  [1, () => ({ kind: 'compaction' })],
  [2, (d) => ({ kind: 'node-clock', shoot: d.shoot(), nodes: d.nodes(), ms: skew(d) })],
  [1, (d) => ({ kind: 'watchdog-clock', replica: d.replica(), ms: skew(d) })],
  [2, (d) => ({ kind: 'api-server-clock', server: d.shoot(), ms: skew(d) })],
  [1, (d) => ({ kind: 'credentials', shoot: d.shoot(), how: d.of(['expired', 'rotated', 'broken', 'missing']) })],
  [3, (d) => ({ kind: 'kill', replica: d.replica() })],
  [1, (d) => ({ kind: 'stop', replica: d.replica() })],
  [2, (d) => ({ kind: 'pause', replica: d.replica() })],
  [
    4,
    (d) => ({
      kind: 'autoscaler',
      shoot: d.shoot(),
      deployment: d.of(deployments),
      everyMs: d.of([300, 2_000, 10_000]),
    }),
  ],
  [4, (d) => ({ kind: 'ignore-scaling', shoot: d.shoot(), deployment: d.of(deployments) })],
];
const notCandidates = (d: Draw, how: Extract<Fault, { kind: 'not-candidates' }>['how'][]): Fault => ({
  ...{ kind: 'not-candidates', shoot: d.shoot(), nodes: d.nodes() },
  how: d.of(how as [(typeof how)[number]]),
});
/** The ends of shoots, some of which come back. */
const endings: Readonly<Record<WorldSource, Weighted>> = {
  gardener: [
    [2, (d) => ({ kind: 'hibernation', shoot: d.shoot() })],
    [2, (d) => ({ kind: 'deletion', shoot: d.shoot() })],
    [4, (d) => ({ kind: 'no-workers', shoot: d.shoot(), isForGood: d.chance(0.6) })],
    [1, (d) => ({ kind: 'cluster-gone', shoot: d.shoot() })],
  ],
  secret: [
    [4, (d) => ({ kind: 'credentials', shoot: d.shoot(), how: d.of(['missing', 'removed', 'removed', 'replaced']) })],
    [1, (d) => ({ kind: 'namespace-deletion', shoot: d.shoot() })],
  ],
};
const ofGardener: Weighted = [
  ...endings.gardener,
  [4, (d) => notCandidates(d, ['machine-failed', 'unmanaged', 'unhealthy'])],
];
const ofSecret: Weighted = [...endings.secret, [4, (d) => notCandidates(d, ['unhealthy', 'tainted', 'deleted'])]];
const reload: Weighted = [[1, (d) => ({ kind: 'reload', settings: d.random.integer(otherSettings.length) })]];
const ofExternalProbe: Weighted = [
  [4, (d) => ({ kind: 'public-way', shoot: d.shootOrAll(0.7), how: d.of(modes) })],
  [1, (d) => ({ kind: 'partition', replica: d.replica(), server: 'outside' })],
  [1, (d) => ({ kind: 'dns', replica: d.replica(), server: 'outside' })],
];
const tables = { gardener: [...always, ...ofGardener, ...reload], secret: [...always, ...ofSecret, ...reload] };

export const proberFault = (draw: Draw): Fault => {
  const { hasOutside, source = 'gardener' } = draw.plan;
  return draw.fromTable(hasOutside && draw.chance(0.25) ? ofExternalProbe : tables[source]);
};

export const proberShoot = (draw: Draw, name: string): PlannedShoot => {
  const replicas = Object.fromEntries(deployments.map((deployment) => [deployment, draw.between(1, 3)]));
  return {
    name,
    nodes: draw.chance(0.75) ? nodesOf : draw.between(1, nodesOf),
    replicas: draw.chance(0.15) ? { ...replicas, [clusterAutoscaler]: 0 } : replicas,
    // Only Gardener's Clusters have a grace period of their own.
    ...(draw.chance(0.1) && draw.plan.source === undefined ? { graceMs: draw.of([24_000, 80_000]) } : {}),
  };
};

const cutOff = (draw: Draw, at: number, forMs: number, shoot: string | undefined): PlannedFault => {
  return { at, forMs, fault: { kind: 'load-balancer', shoot, how: draw.of(modes) } };
};
const outage = (draw: Draw, at: number, forMs: number): PlannedFault =>
  cutOff(draw, at, forMs, draw.chance(0.5) ? undefined : draw.shoot());

/** An outage against which the prober must protect, after all other faults are over. */
const plainOutage: Script = (draw) => {
  const [calmMs, faultsMs] = [50_000, 200_000];
  const before = draw.some(0, 2, () => {
    const at = draw.between(0, calmMs);
    return { at, forMs: Math.min(draw.lasting(), calmMs - at), fault: proberFault(draw) };
  });
  const forMs = draw.between(50_000, 80_000);
  return { faultsMs, faults: [...before, outage(draw, faultsMs - forMs, forMs)] };
};

/** An outage, and more faults near the threshold or during the restoration. */
const troubledOutage: Script = (draw) => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(38_000, 75_000);
  const end = at + forMs;
  const faults = draw.some(1, 4, () =>
    draw.chance(0.5) ? draw.anyAt(at + 22_000, at + 42_000) : draw.anyAt(end - 5_000, end + 50_000),
  );
  return { faultsMs: end + 60_000, faults: [outage(draw, at, forMs), ...faults] };
};

/** Some kubelets are late: they come back up to a minute and a half after the others. */
const lateKubelets: Script = (draw) => {
  const [at, forMs, shoot] = [draw.between(50_000, 70_000), draw.between(40_000, 80_000), draw.shoot()];
  const lateMs = draw.between(20_000, 90_000);
  const late: Fault = { kind: 'nat-gateway', shoot, nodes: draw.nodes() };
  const faults = [cutOff(draw, at, forMs, shoot), { at, forMs: forMs + lateMs, fault: late }];
  return { faultsMs: at + forMs + 150_000, faults };
};

/** The API server of a shoot is down: no kubelet can renew for a while, which must not cause a scale-down, and then all can. */
const absentApiServer: Script = (draw) => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(16_000, 80_000);
  const away: Fault = { kind: 'api-server', server: draw.shoot(), trouble: { how: draw.of(modes) } };
  const others = draw.some(0, 2, () => draw.anyAt(0, at + forMs + 30_000));
  return { faultsMs: at + forMs + 60_000, faults: [{ at, forMs, fault: away }, ...others] };
};

/** One of two probers ends, is suspended, or is cut off from the seed or a shoot at the worst time: before it protects, or while it restores. */
const handover: Script = (draw) => {
  const at = draw.between(25_000, 45_000);
  const forMs = draw.between(45_000, 75_000);
  const replica = draw.of([0, 1]);
  const faults = draw.some(1, 2, () => {
    const fault: Fault = draw.chance(0.5) ? draw.blow(replica) : { kind: 'partition', replica, server: draw.shoot() };
    const worst = draw.chance(0.8) ? draw.between(at + 5_000, at + 22_000) : at + forMs + draw.between(0, 50_000);
    return { at: worst, forMs: draw.between(4_000, 60_000), fault };
  });
  const cut = cutOff(draw, at, forMs, undefined);
  const latencyMs = draw.of([20, 300, 1_000]);
  return { faultsMs: at + forMs + 60_000, faults: [cut, ...faults], elected: true, replicas: 2, latencyMs };
};

/** Autoscalers scale the same Deployments as the watchdog, and an operator takes over one of them. */
const rivalry: Script = (draw) => {
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
  return { faultsMs, faults: [cutOff(draw, at, forMs, shoot), ...rivals, takeover] };
};

/** The watchdog's own outbound network fails. Meanwhile kubelets of one or two shoots are silent, some for long enough to be protected. */
const ownWayOut: Script = (draw) => {
  const at = draw.between(5_000, 30_000);
  const forMs = draw.between(60_000, 110_000);
  const away: Fault = draw.chance(0.5)
    ? { kind: 'public-way', shoot: undefined, how: draw.of(modes) }
    : { kind: 'partition', replica: draw.replica(), server: 'outside' };
  const cuts = draw.some(1, 2, () => {
    const cut: Fault = { kind: 'nat-gateway', shoot: draw.shoot(), nodes: draw.chance(0.7) ? allNodes : draw.nodes() };
    const silentMs = draw.chance(0.7) ? draw.between(16_000, 28_000) : draw.between(40_000, 60_000);
    return { at: draw.between(at + 10_000, at + forMs - 20_000), forMs: silentMs, fault: cut };
  });
  return { faultsMs: at + forMs + 50_000, faults: [{ at, forMs, fault: away }, ...cuts] };
};

/** Kubelets are silent although the public address is reachable, at first or all the time. */
const wholePath: Script = (draw) => {
  const [at, shoot] = [draw.between(5_000, 40_000), draw.shoot()];
  const forMs = draw.between(50_000, 90_000);
  const cut: Fault = { kind: 'nat-gateway', shoot, nodes: draw.chance(0.7) ? allNodes : draw.nodes() };
  const later: PlannedFault = {
    at: at + draw.between(20_000, 45_000),
    forMs: draw.between(5_000, 60_000),
    fault: draw.chance(0.6) ? { kind: 'public-way', shoot, how: draw.of(modes) } : proberFault(draw),
  };
  const faults = [{ at, forMs, fault: cut }, ...(draw.chance(0.6) ? [later] : [])];
  return { faultsMs: at + forMs + 60_000, faults };
};

/** A held shoot ends, for good or for less or more than a minute, or its Secret is replaced. */
const endInOutage: Script = (draw) => {
  const at = draw.between(5_000, 40_000);
  const forMs = draw.between(60_000, 100_000);
  const fault = draw.fromTable(endings[draw.plan.source ?? 'gardener']);
  const end: PlannedFault = {
    at: at + draw.between(15_000, 60_000),
    forMs: draw.chance(0.5) ? draw.between(2_000, 55_000) : draw.between(62_000, 120_000),
    fault,
  };
  const cut = cutOff(draw, at, forMs, 'shoot' in fault ? fault.shoot : undefined);
  const others = draw.some(0, 1, () => draw.anyAt(0, at + forMs));
  const faultsMs = Math.max(at + forMs, end.at + end.forMs) + 60_000;
  return { faultsMs, faults: [cut, end, ...others] };
};

export const proberScripts = ({ hasOutside }: Draw['plan']): readonly [Script, ...Script[]] => [
  ...([chaos, plainOutage, troubledOutage, lateKubelets, absentApiServer] as const),
  ...[handover, handover, rivalry, endInOutage, endInOutage],
  ...(hasOutside ? [ownWayOut, wholePath, wholePath] : []),
];
