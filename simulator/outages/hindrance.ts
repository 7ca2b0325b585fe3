import { gardenSettings } from '../harness/index.ts';
import type { Fault, Plan, PlannedFault } from './plan.ts';

type Kinds = readonly Fault['kind'][];

/** Faults that do not hinder protection: those of pods and services, and the silence of kubelets, against which the prober protects. */
const harmless: Kinds = [...(['load-balancer', 'nat-gateway', 'public-way'] as const), ...(['etcd', 'crash'] as const)];

/** Faults whose only effect is that a shoot is not probed for a while. Its phase covers the time after them. */
const phaseChanges: Kinds = ['hibernation', 'deletion', 'no-workers', 'namespace-deletion', 'cluster-gone'];

/** True if a fault hinders the protection of a shoot: a fault of the shoot, of a server that it needs, or of the watchdogs. */
export const hindersProtection = (fault: Fault, shoot: string): boolean => {
  if (harmless.includes(fault.kind)) return false;
  if (fault.kind === 'protection-pause') return (fault.shoot ?? shoot) === shoot;
  if ('server' in fault) return fault.server === 'seed' || fault.server === shoot;
  return 'shoot' in fault ? fault.shoot === shoot : true;
};

const isActive = ({ at, forMs }: PlannedFault, now: number): boolean => at <= now && now < at + forMs;

const endOf = (planned: PlannedFault, now: number): number => {
  if (isActive(planned, now)) return now;
  return phaseChanges.includes(planned.fault.kind) ? planned.at : planned.at + planned.forMs;
};

const latest = (times: readonly number[]): number => Math.max(Number.NEGATIVE_INFINITY, ...times);

const replicaOf = (fault: Fault, { replicas }: Plan): number | undefined =>
  'replica' in fault && fault.replica !== undefined ? fault.replica % replicas : undefined;

/** Time after a fault, in addition to the expiry age: for back-off, the reset after downtime and new lists. */
const settleMs = 45_000;
/** Time for a process or a shoot that starts: a new prober waits its initial delay, and confirms old timestamps by a second observation. */
export const startMs = gardenSettings.initialDelayMs + 7_000;

/** Faults after which others decide on the objects of a shoot, even if the prober has protected it before. */
const otherOwners: Kinds = [
  ...phaseChanges,
  ...(['autoscaler', 'ignore-scaling', 'protection-pause', 'not-candidates', 'reload'] as const),
];

export interface ExcuseOptions {
  readonly shoot: string;
  readonly limitMs: number;
  readonly now: number;
  /** Time at which the shoot had to be protected. What hinders the prober later is no excuse. */
  readonly due: number;
  /** The starts, ends and suspensions of processes: their replicas and times. */
  readonly disturbances: readonly (readonly [replica: number, at: number])[];
}

/** Returns the time from which nothing excuses a shoot that is not protected. Of two probers one is enough. */
export const excusedUntil = (plan: Plan, { shoot, limitMs, now, due, disturbances }: ExcuseOptions): number => {
  const excuses = plan.faults.flatMap((planned) => {
    const { at, fault } = planned;
    const until = otherOwners.includes(fault.kind) ? now : Math.min(due, now);
    if (at > until || !hindersProtection(fault, shoot)) return [];
    return [{ replica: replicaOf(fault, plan), until: endOf(planned, until) + limitMs + settleMs }];
  });
  const starts = disturbances.flatMap(([replica, at]) => (at <= due ? [{ replica, until: at + startMs }] : []));
  const untilOf = (wanted: number | undefined): number =>
    latest([...excuses, ...starts].flatMap(({ replica, until }) => (replica === wanted ? [until] : [])));
  return Math.max(
    untilOf(undefined),
    Math.min(...Array.from({ length: plan.replicas }, (_, replica) => untilOf(replica))),
  );
};

/** Returns how long the effects of a fault last after its end, in ms: new lists, or timeouts of requests and the longest back-off after them. */
const aftermathMs = ({ kind }: Fault): number =>
  kind === 'compaction' || kind === 'pause' || kind === 'reload' ? 6_000 : 45_000;

/** True if a fault keeps a running process from reading or writing objects of the seed. */
const hampersSeedAccess = (fault: Fault): boolean => {
  const { kind } = fault;
  if (kind === 'api-server' || kind === 'partition' || kind === 'dns') return fault.server === 'seed';
  return ['lost-answers', 'compaction', 'pause', 'reload', 'writes', 'watchdog-clock'].includes(kind);
};

/** Returns the time until which faults, or their effects, keep watchdogs from knowing the seed; Infinity while one does. */
export const hamperedUntil = ({ faults }: Plan, now: number): number =>
  latest(
    faults
      .filter(({ at, fault }) => at <= now && hampersSeedAccess(fault))
      .map((planned) =>
        isActive(planned, now) ? Number.POSITIVE_INFINITY : endOf(planned, now) + aftermathMs(planned.fault),
      ),
  );
