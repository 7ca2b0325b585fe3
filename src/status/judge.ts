import { allPaused, attentionOf } from './state/attention.ts';
import { worstFirst, needsEyes } from './state/judge-seed.ts';
import type { PauseInForce, ProberStatus, ShootStatus } from './state/schema.ts';

/** State of the leader Lease. */
export interface LeaderLease {
  /** Identity of the leader. Empty if there is none. */
  readonly holder: string;
  /** Start of the leadership, in RFC 3339. */
  readonly since?: string;
  /** True if the holder has renewed the Lease within its duration, by the API server's clock. */
  readonly isFresh: boolean;
  /** True if the Go program leads: beside it a standby only observes. */
  readonly isForeign?: boolean;
}

/** A pod of the prober. */
export interface Replica {
  readonly pod: string;
  readonly isReady: boolean;
  /** Number of the container's port `health`. */
  readonly healthPort: number;
}

/** Facts about the prober from the objects of the seed. */
export interface SeedObjects {
  /** Undefined if it could not be read. */
  readonly lease: LeaderLease | undefined;
  /** Undefined if they could not be read. */
  readonly replicas: readonly Replica[] | undefined;
  /** Reads that failed, a sentence each. */
  readonly problems: readonly string[];
}

/** Held resources and pauses that objects show. */
export interface HeldObjects {
  readonly shoots: readonly ShootStatus[];
  /** Number of clusters in the seed. */
  readonly total: number;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | null;
  /** Reads that failed, a sentence each. */
  readonly problems: readonly string[];
}

/** 0: nothing is held, and all shoots are protected. 1: a shoot or the prober needs attention. 2: the state is not known. */
export type StatusExitCode = 0 | 1 | 2;

/** Status of a seed at one time, for the operator of its prober. */
export interface SeedStatus {
  /** Time of the status, in RFC 3339. */
  readonly at: string;
  /** `leader` or `standby`: the prober that has responded. `objects`: none has, and only objects were read. `none`: they could not be read either. `no-seed`: this is no seed. */
  readonly source: 'leader' | 'standby' | 'objects' | 'none' | 'no-seed';
  /** Name of the seed, as the prober says, else what we connected to. */
  readonly seed: string;
  readonly lease: LeaderLease | undefined;
  readonly replicas: readonly Replica[] | undefined;
  /** Status of the prober that has responded, without its shoots. */
  readonly prober: Omit<ProberStatus, 'shoots'> | undefined;
  /** Shoots, the worst first. From objects only those that are held or paused. */
  readonly shoots: readonly ShootStatus[];
  /** Number of shoots in the seed, or of requested shoots. */
  readonly total: number;
  /** Reasons why the status is incomplete, a sentence each. */
  readonly problems: readonly string[];
  /** What is wrong with the prober or the whole seed, a sentence each. */
  readonly attention: readonly string[];
  readonly exitCode: StatusExitCode;
}

export interface SeedFindings {
  readonly at: string;
  /** What we connected to, for a seed whose Clusters do not name it. */
  readonly connectedTo: string;
  readonly objects: SeedObjects;
  readonly answer: ProberStatus | undefined;
  /** Undefined if a prober has responded, or objects could not be read. */
  readonly held: HeldObjects | undefined;
  readonly problems: readonly string[];
  /** True if this is no seed, as far as the API server shows. */
  readonly isNoSeed?: boolean;
}

/** True if nobody leads, as far as the Lease shows: then nothing is probed. */
const isLeaderless = ({ lease }: Pick<SeedStatus, 'lease'>): boolean =>
  lease !== undefined && (!lease.isFresh || lease.holder === '');

const exitCodeOf = (status: Omit<SeedStatus, 'exitCode'>, held: HeldObjects | undefined): StatusExitCode => {
  if (status.attention.length > 0 || status.shoots.some(needsEyes)) return 1;
  if (status.source === 'leader') return 0;
  if (status.source === 'no-seed') return 2;
  // 1 without a leader, which needs attention. 2 with a leader that does not respond: the state is not known.
  const isRead = status.source === 'standby' || held?.problems.length === 0;
  return isRead && isLeaderless(status) ? 1 : 2;
};

/** Creates the status from all findings: sorts the shoots, lists what needs attention and computes the exit code. */
export const judgeSeed = (findings: SeedFindings): SeedStatus => {
  const { at, connectedTo, objects, answer, held, problems, isNoSeed = false } = findings;
  const { lease, replicas } = objects;
  const shoots = worstFirst(answer?.shoots ?? held?.shoots ?? []);
  const known = {
    at,
    seed: answer?.seed ?? connectedTo,
    lease,
    replicas,
    shoots,
    problems: [...objects.problems, ...problems, ...(held?.problems ?? [])],
    total: answer?.shoots.length ?? held?.total ?? 0,
  };
  if (answer === undefined) {
    const attention = (held?.paused ?? null) === null ? [] : [allPaused];
    const source = isNoSeed ? 'no-seed' : held === undefined ? 'none' : 'objects';
    const status = { ...known, source, prober: undefined, attention } as const;
    return { ...status, exitCode: exitCodeOf(status, held) };
  }
  const { shoots: _, ...prober } = answer;
  const source = answer.leads ? 'leader' : 'standby';
  const status = { ...known, source, prober, attention: attentionOf(answer) } as const;
  return { ...status, exitCode: exitCodeOf(status, held) };
};
