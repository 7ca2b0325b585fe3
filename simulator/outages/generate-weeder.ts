import { clusterAutoscaler, kubeApiserver, kubeControllerManager, machineControllerManager } from '../world/index.ts';
import { type Draw, type Script, type Weighted, apiFault, chaos } from './draw.ts';
import type { Fault, PlannedFault, PlannedShoot } from './plan.ts';
import { otherWeederSettings } from './world-settings.ts';

const dependants = [
  ...[kubeApiserver, kubeControllerManager, 'kube-scheduler'],
  ...[machineControllerManager, clusterAutoscaler],
] as [string, ...string[]];

const skew = (d: Draw): number => d.of([-1, 1]) * d.of([25_000, 3_600_000]);

const table: Weighted = [
  [6, (d) => ({ kind: 'etcd', shoot: d.shootOrAll(0.6) })],
  [2, (d) => ({ kind: 'etcd', shoot: d.shoot(), everyMs: d.of([4_000, 15_000, 40_000]) })],
  [5, (d) => ({ kind: 'crash', shoot: d.shoot(), component: d.of(dependants) })],
  [5, (d) => ({ kind: 'api-server', server: 'seed', trouble: apiFault(d) })],
  [2, (d) => ({ kind: 'partition', replica: d.replica(), server: 'seed' })],
  [1, (d) => ({ kind: 'dns', replica: d.replica(), server: 'seed' })],
  [3, (d) => ({ kind: 'lost-answers', how: d.of(['reset', 'drop']), part: d.of([0.3, 1]) })],
  [2, () => ({ kind: 'compaction' })],
  [1, (d) => ({ kind: 'watchdog-clock', replica: d.replica(), ms: skew(d) })],
  [3, (d) => ({ kind: 'kill', replica: d.replica() })],
  [1, (d) => ({ kind: 'stop', replica: d.replica() })],
  [3, (d) => ({ kind: 'pause', replica: d.replica() })],
  [1, (d) => ({ kind: 'reload', settings: d.random.integer(otherWeederSettings.length) })],
];

export const weederFault = (draw: Draw): Fault => draw.fromTable(table);

export const weederShoot = (draw: Draw, name: string): PlannedShoot => ({
  name,
  nodes: 0,
  replicas: Object.fromEntries(dependants.map((dependant) => [dependant, draw.of([1, 1, 2, 3])])),
});

/** etcd of one shoot or of all is down for so long that everything crash-loops. */
const recovery = (draw: Draw): PlannedFault & { readonly back: number } => {
  const forMs = draw.between(25_000, 110_000);
  const at = draw.between(5_000, 30_000);
  return { at, forMs, fault: { kind: 'etcd', shoot: draw.shootOrAll(0.6) }, back: at + forMs };
};

/** More faults when etcd recovers, or when the weeded pods start. */
const troubledRecovery: Script = (draw) => {
  const { back, ...lost } = recovery(draw);
  const others = draw.some(0, 3, () => draw.anyAt(back - 10_000, back + 50_000));
  return { faultsMs: back + 100_000, faults: [lost, ...others] };
};

/** A program crash-loops by itself, so that its pods are deleted again and again, while responses are lost or late. */
const slowAnswers: Script = (draw) => {
  const at = draw.between(1_000, 60_000);
  const forMs = draw.between(10_000, 80_000);
  const slow: Fault = draw.chance(0.5)
    ? { kind: 'lost-answers', how: 'drop', part: 1 }
    : { kind: 'api-server', server: 'seed', trouble: { how: 'slow', delayMs: draw.between(1_500, 4_500) } };
  const crash: PlannedFault = {
    at: draw.between(0, at + forMs),
    forMs: draw.between(20_000, 200_000),
    fault: { kind: 'crash', shoot: draw.shoot(), component: draw.of(dependants) },
  };
  return { faultsMs: at + forMs + 120_000, faults: [{ at, forMs, fault: slow }, crash] };
};

/** The leader ends, is suspended or loses its connection to the seed while etcd recovers. */
const handover: Script = (draw) => {
  const { back, ...lost } = recovery(draw);
  const replica = draw.replica();
  const others = draw.some(1, 2, () => {
    const fault = draw.blow(replica);
    return { at: draw.between(back - 15_000, back + 40_000), forMs: draw.between(4_000, 40_000), fault };
  });
  return { faultsMs: back + 90_000, faults: [lost, ...others], elected: true, latencyMs: draw.of([20, 300, 1_000]) };
};

export const weederScripts = [chaos, troubledRecovery, slowAnswers, handover] as [Script, ...Script[]];
