import type { Fault } from './plan.ts';

type Kinds = readonly Fault['kind'][];

/** Faults of a weeder's shoots, and the silence of kubelets, which is what protection is for. */
const harmless: Kinds = [
  ...(['load-balancer', 'nat-gateway', 'public-way'] as const),
  ...(['etcd', 'crash', 'second-slice', 'no-slices', 'stray-pod'] as const),
];

/** True for a fault that makes a shoot hard to protect: its own, one of a server that it needs, or one of the watchdogs. */
export const touches = (fault: Fault, shoot: string): boolean => {
  if (harmless.includes(fault.kind)) return false;
  if (fault.kind === 'protection-pause') {
    return fault.shoot === undefined || fault.shoot === shoot || fault.neighbours?.includes(shoot) === true;
  }
  if ('server' in fault) return fault.server === 'seed' || fault.server === shoot;
  return 'shoot' in fault ? fault.shoot === shoot : true;
};

const phaseChanges: Kinds = [
  ...(['hibernation', 'deletion', 'no-workers', 'namespace-deletion'] as const),
  ...(['cluster-gone', 'cluster-paused', 'uninitialized'] as const),
];

/** Whether a fault does nothing but make a shoot one that is not to be watched for a while. */
export const changesPhase = ({ kind }: Fault): boolean => phaseChanges.includes(kind);

/** Whether a fault makes timestamps of a shoot's leases differ from the watchdog's time. */
export const skewsTime = (fault: Fault, shoot: string): boolean =>
  fault.kind === 'watchdog-clock' ||
  (fault.kind === 'node-clock' && fault.shoot === shoot) ||
  (fault.kind === 'api-server-clock' && fault.server === shoot);

/** Whether a fault keeps a weeder that runs from seeing the seed or from writing to it. */
export const hampersWeeder = (fault: Fault): boolean => {
  const { kind } = fault;
  if (kind === 'api-server' || kind === 'partition' || kind === 'dns') return fault.server === 'seed';
  return kind === 'lost-answers' || kind === 'compaction' || kind === 'pause' || kind === 'reload';
};

/** What it leaves behind: lists that begin anew, or time-outs of requests and the longest back-off after them. In milliseconds. */
export const aftermathMs = ({ kind }: Fault): number =>
  kind === 'compaction' || kind === 'pause' || kind === 'reload' ? 6_000 : 45_000;

/** The replica that a fault is about; undefined: all of them. */
export const replicaOf = (fault: Fault): number | undefined => ('replica' in fault ? fault.replica : undefined);
