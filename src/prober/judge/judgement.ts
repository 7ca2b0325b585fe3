import type { ShootSettings } from '../clusters/lifecycle.ts';
import type { ProberSettings } from '../config/settings.ts';
import type { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { PoolConditions } from '../../gardener/candidate-nodes.ts';

export type ReadError = ApiError | KubeconfigError;

export type FailureKind =
  | 'api_server_unreachable'
  | 'kubeconfig_unusable'
  | 'lease_list_failed'
  | 'node_list_failed'
  | 'machine_list_failed'
  | 'throttled';

export type Verdict =
  | {
      readonly kind: 'unhealthy';
      /** Monotonic instant at which enough candidates had expired, or all had become silent. */
      readonly crossedAt: number;
      /** Monotonic instant at which KCM gives up the node by which enough of them are lost. */
      readonly graceEndsAt: number;
    }
  | { readonly kind: 'healthy' }
  | { readonly kind: 'skipped' }
  /** A second list must confirm the scale-down: it rests on the silence of all or on leases just seen for the first time, or only we were cut off until now. */
  | { readonly kind: 'confirming' }
  /** The outage is over, but some kubelets are late, or have not renewed for long enough: held resources stay held until then. Monotonic instants. */
  | {
      readonly kind: 'landing';
      readonly renewed: number;
      readonly awaited: number;
      /** Names of some that are late. */
      readonly late: readonly string[];
      /** When it ends if all go on to renew; absent while some are late. */
      readonly earliest?: number | undefined;
      /** When it ends whoever renews. */
      readonly latest: number;
    }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly error: ReadError };

/** Name of a verdict in the log, the metrics and the demo. */
export type VerdictName = 'healthy' | 'unhealthy' | 'confirming' | 'landing' | 'skipped' | FailureKind;

export const verdictNameOf = (verdict: Verdict): VerdictName =>
  verdict.kind === 'failed' ? verdict.failure : verdict.kind;

/** An outage, from its first verdict `unhealthy` until all held resources are restored. Times are monotonic milliseconds. */
export interface Outage {
  /** When its first verdict `unhealthy` crossed the threshold; absent: there was none, resources were or may be held. */
  readonly since?: number;
  /** Candidates whose lease had expired before the outage. A landing does not wait for them. */
  readonly expiredBefore: ReadonlySet<string>;
  /** Start of the time in which the share of expired leases is below the threshold, and of the time in which all candidates renew. */
  readonly landing?: { readonly belowSince: number; readonly freshSince?: number };
  /** Number of resources that were held in the latest run, and when that was. Absent until the shoot has landed. */
  readonly toRestore?: { readonly held: number; readonly at: number };
  /** True if it began within ten minutes of the restoration before it. */
  readonly isFlapping?: boolean;
}

/** The nodes whose leases count. */
export interface Candidates {
  /** When they were found, in monotonic milliseconds. */
  readonly at: number;
  readonly names: ReadonlySet<string>;
  /** Reasons by name: why the lease of a node does not count, or that it has none. */
  readonly leftOut: ReadonlyMap<string, string>;
  /** Number of all nodes. */
  readonly nodes: number;
}

/** A lease as of one list. Times are monotonic milliseconds. */
export interface ObservedLease {
  readonly name: string;
  /** `spec.renewTime` and its stamp, only compared with those of other lists. */
  readonly renewTime?: number;
  readonly stampedAt?: number;
  readonly durationMs: number;
  /** When the first list that shows this `renewTime` had arrived: the renewal is not later. */
  readonly shownAt: number;
  /** When the list before that was sent: the renewal is later. -Infinity if we never saw the lease change. */
  readonly changedAfter: number;
  /** The last renewal, within those bounds. */
  readonly renewedAt: number;
  /** True if the stamp changed with the last change of `renewTime` that we saw: it is of that renewal, whatever the clock of the node says. */
  readonly isRestamped: boolean;
  /** True if no earlier list shows the lease. */
  readonly isNew: boolean;
  /** From when its silence counts: its renewal, or a later end of a failure of the API server. */
  readonly silentSince: number;
  /** True if the API server's clock gives its age and agrees with ours; else the age rests on one clock alone, the node's or that of one API server. */
  readonly isTrusted: boolean;
  /** From when on it counts as expired, and as silent, if it is not renewed. */
  readonly expiresAt: number;
  readonly silentAt: number;
}

/** State that a shoot's prober keeps from run to run. Times are monotonic milliseconds. */
export interface ProbeMemory {
  /** The leases of the latest list, and when that was sent. */
  readonly leases: readonly ObservedLease[];
  readonly listedAt?: number;
  /** What the latest run that listed nodes and machines found. */
  readonly candidates?: Candidates;
  /** Start of the run since which the API server has proved that it fails: it was reached and answered 5xx, or not at all. */
  readonly provedSince?: number;
  /** True if we could not connect in some run since the latest list. */
  readonly isUnconnected?: boolean;
  /** End of the latest failure of the API server that counts as an excuse: silence counts from here. */
  readonly excusedUntil?: number;
  /** End of the latest time in which only we could not connect. */
  readonly cutOffUntil?: number;
  /** An outage is suspected; a list that is sent from this instant on confirms it. -Infinity: one has. */
  readonly suspectedUntil?: number;
  readonly outage?: Outage;
  /** Latest run after which a resource was restored. */
  readonly restoredAt?: number;
  /** Longest response time of the latest run that got a response, in milliseconds. */
  readonly slowestResponseMs?: number;
}

export const emptyProbeMemory: ProbeMemory = { leases: [] };

export interface DependentsView {
  /** True if all watches have synced, nothing is being scaled, and every existing resource is scaled up, ready and without our annotations. */
  readonly nothingToRestore: boolean;
  /** Number of resources that are held (annotation `meltdown-protection-active`). */
  readonly held: number;
  /** True if a resource is held, or may be because its watch has not synced yet. */
  readonly mayBeHeld: boolean;
}

/**
 * Share of the grace period after which a lease has expired. It leaves the prober time to act before KCM, and the kubelet three attempts in a grace period of
 * 40 s.
 */
export const expiryShareOfGrace = 0.75;

/** Settings for judging one shoot. */
export interface ProbeSettings
  extends Pick<
    ProberSettings,
    'probeIntervalMs' | 'backoffJitterFactor' | 'allSilentAfterMs' | 'landingTimeoutMs' | 'nodeLeaseFailureFraction'
  > {
  /** Age at which a lease counts as expired: 0.75 of the shoot's node monitor grace period. */
  readonly expiryAgeMs: number;
  /** The shoot's node monitor grace period. */
  readonly graceMs: number;
  /** True while the external probe finds the public address unreachable, and may shorten `allSilentAfterMs` (mode `trigger`). */
  readonly isTriggered?: boolean;
  readonly poolConditions: PoolConditions;
}

export const probeSettings = (settings: ProberSettings, shoot: ShootSettings): ProbeSettings => {
  const { nodeMonitorGraceMs: graceMs = settings.nodeMonitorGraceMs, poolConditions } = shoot;
  return { ...settings, graceMs, expiryAgeMs: expiryShareOfGrace * graceMs, poolConditions };
};

/** Input of the judgement, besides the lists that the run reads. Times are monotonic milliseconds. */
export interface ProbeInput {
  readonly settings: ProbeSettings;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  readonly dependents: DependentsView;
  readonly now: number;
  /** Random number in [0, 1), for the jitter. */
  readonly random: number;
}

/** Result of a probe run. */
export interface Decision {
  readonly verdict: Verdict;
  /** Explanation for people, in words and numbers. */
  readonly reason: string;
  /** Absent if nodes and machines were not listed. */
  readonly counts?: { readonly candidates: number; readonly expired: number };
  /** Monotonic instant of the next run. */
  readonly nextRunAt: number;
  readonly memory: ProbeMemory;
}

const minRetryDelayMs = 1_000;

/** Returns when the next run starts: at the next tick, or at `lookAt` if that is sooner, but in a second at the earliest. */
export const nextRunAt = ({ now, random, settings }: ProbeInput, lookAt = Number.POSITIVE_INFINITY): number => {
  const tick = now + settings.probeIntervalMs * (1 + random * settings.backoffJitterFactor);
  return Math.min(tick, Math.max(lookAt, now + minRetryDelayMs));
};
