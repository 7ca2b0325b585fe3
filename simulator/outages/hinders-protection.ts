import type { Fault } from './plan.ts';

type Kinds = readonly Fault['kind'][];

/** Faults that do not hinder protection: those of pods and services, and the silence of kubelets, against which the prober protects. */
const harmless: Kinds = [
  ...(['load-balancer', 'nat-gateway', 'public-way'] as const),
  ...(['etcd', 'crash', 'second-slice', 'no-slices', 'stray-pod'] as const),
];

/** True if a fault hinders the protection of a shoot: a fault of the shoot, of a server that it needs, or of the watchdogs. */
export const hindersProtection = (fault: Fault, shoot: string): boolean => {
  if (harmless.includes(fault.kind)) return false;
  if (fault.kind === 'protection-pause') {
    return fault.shoot === undefined || fault.shoot === shoot;
  }
  if ('server' in fault) return fault.server === 'seed' || fault.server === shoot;
  return 'shoot' in fault ? fault.shoot === shoot : true;
};

const phaseChanges: Kinds = [
  ...(['hibernation', 'deletion', 'no-workers', 'namespace-deletion', 'cluster-gone'] as const),
];

/** True if the only effect of a fault is that a shoot is not probed for a while. */
export const changesPhase = ({ kind }: Fault): boolean => phaseChanges.includes(kind);

/** True if a fault makes timestamps of a shoot's leases differ from the watchdog's time. */
export const skewsTime = (fault: Fault, shoot: string): boolean =>
  fault.kind === 'watchdog-clock' ||
  (fault.kind === 'node-clock' && fault.shoot === shoot) ||
  (fault.kind === 'api-server-clock' && fault.server === shoot);

/** True if a fault keeps a running process from reading or writing objects of the seed. */
export const hampersSeedAccess = (fault: Fault): boolean => {
  const { kind } = fault;
  if (kind === 'api-server' || kind === 'partition' || kind === 'dns') return fault.server === 'seed';
  return kind === 'lost-answers' || kind === 'compaction' || kind === 'pause' || kind === 'reload';
};

/** Returns how long the effects of a fault last after its end, in ms: new lists, or timeouts of requests and the longest back-off after them. */
export const aftermathMs = ({ kind }: Fault): number =>
  kind === 'compaction' || kind === 'pause' || kind === 'reload' ? 6_000 : 45_000;

/** Returns the replica that a fault affects; undefined if it affects all. */
export const replicaOf = (fault: Fault): number | undefined => ('replica' in fault ? fault.replica : undefined);
