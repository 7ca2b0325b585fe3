import {
  type ApiError,
  type KubeconfigError,
  type Lease,
  type LeaseBook,
  type Look,
  type MachineView,
  type NodeView,
  type OutsideMode,
  type PoolConditions,
  type Result,
  emptyLeaseBook,
} from '../../domain/index.ts';

/** What a probe run may ask for; it starts with nothing and fetches what `decide` says it needs. */
export type Need = 'apiServer' | 'leases' | 'nodes' | 'machines';

export type ReadError = ApiError | KubeconfigError;

/** One probe run as seen so far. A part that was not asked for is absent. Times are monotonic milliseconds. */
export interface Observation {
  readonly startedAt: number;
  readonly apiServer?: Result<undefined, ReadError>;
  readonly leases?: Result<{ readonly items: readonly Lease[]; readonly look: Look }, ReadError>;
  readonly nodes?: Result<readonly NodeView[], ReadError>;
  readonly machines?: Result<readonly MachineView[], ReadError>;
  readonly dependents: DependentsView;
}

export interface DependentsView {
  /** All watches synced, no flow runs, and every resource that is there is up, ready and without annotations of ours. */
  readonly undisturbed: boolean;
  /** Some resource carries the mark of meltdown protection. */
  readonly anyHeld: boolean;
}

export interface ProbeSettings {
  readonly probeIntervalMs: number;
  readonly backoffJitterFactor: number;
  /** Age at which a lease counts as expired: 0.75 of the shoot's node monitor grace period. */
  readonly limitMs: number;
  readonly nodeLeaseFailureFraction: number;
  readonly poolConditions: PoolConditions;
}

export type PathState = 'unknown' | 'whole' | 'broken';

/** The outside path as it counts in a verdict. */
export interface OutsideView {
  readonly mode: OutsideMode;
  readonly state: PathState;
  /** Monotonic instant from which a broken path counts. */
  readonly since?: number;
}

/** What lasts from run to run. */
export interface ProbeMemory {
  readonly book: LeaseBook;
  /** Start of the first of the failed runs since which nobody could have renewed. */
  readonly darkSince?: number;
  /** End of the latest dark spell, however short. */
  readonly darkUntil?: number;
  /** Of the leases never seen to change: when they were first seen. */
  readonly firstLooks: ReadonlyMap<string, number>;
  /** Since this instant a lease was renewed for certain, whatever clocks say; absent while all of them are silent. */
  readonly renewedSince?: number;
  /** Leases that a first look called expired and that a second look has yet to confirm. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Runs in a row that, with expired leases, could not tell candidates for want of the machines. */
  readonly blindRuns?: number;
}

export const emptyProbeMemory: ProbeMemory = { book: emptyLeaseBook, firstLooks: new Map(), unconfirmed: new Set() };

export type FailureKind = 'api_server_unreachable' | 'kubeconfig_unusable' | 'lease_list_failed' | 'throttled';

export type Verdict =
  | {
      readonly kind: 'scale-down';
      /** Monotonic instant at which the share of expired leases reached the threshold, or the outside path was decisive. */
      readonly crossedAt: number;
      /** How long before the share of expired leases would reach the threshold the outside path was decisive, in milliseconds. */
      readonly earlyByMs?: number;
    }
  | { readonly kind: 'scale-up'; readonly scope: 'all' | 'held' }
  | { readonly kind: 'skip' }
  /** A scale-down that rests on timestamps alone: look again. */
  | { readonly kind: 'confirm' }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly error: ReadError };

/** The one word for a verdict, in log, metrics and demo alike. */
export type VerdictWord = 'healthy' | 'unhealthy' | 'confirming' | 'skipped' | FailureKind;

export const wordOf = (verdict: Verdict): VerdictWord => {
  switch (verdict.kind) {
    case 'failed':
      return verdict.failure;
    case 'skip':
      return 'skipped';
    case 'confirm':
      return 'confirming';
    case 'scale-down':
      return 'unhealthy';
    case 'scale-up':
      return 'healthy';
  }
};

export interface Counts {
  readonly candidates: number;
  readonly expired: number;
}

export type Decision =
  /** `urgent`: leases have expired, or a shoot is held down; what is asked of the seed must not wait behind ordinary requests. */
  | { readonly kind: 'needs'; readonly needs: readonly Need[]; readonly urgent?: true }
  | {
      readonly kind: 'verdict';
      readonly verdict: Verdict;
      /** In words and numbers, for people. */
      readonly reason: string;
      /** Of an eager run. */
      readonly counts?: Counts;
      /** Monotonic instant of the next run. */
      readonly nextRunAt: number;
      /** Monotonic instant from which another state of the outside path would turn the verdict; absent: it would not. */
      readonly pathTurnsAt?: number;
      readonly memory: ProbeMemory;
    };

export interface Circumstances {
  readonly settings: ProbeSettings;
  readonly memory: ProbeMemory;
  /** Absent where no outside path is to be taken into account. */
  readonly outside?: OutsideView;
  /** Monotonic milliseconds, at the end of what was observed. */
  readonly now: number;
  /** In [0, 1), for the jitter. */
  readonly random: number;
}
