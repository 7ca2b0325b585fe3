import type { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';

/**
 * Why a spell without a list of leases counts as downtime. `answers`: the API server was reached, and failed. `assumed`: we could not connect, and its
 * Deployment was not watched for the whole spell, so it may have been down.
 */
export type DowntimeEvidence = 'answers' | 'no-available-replica' | 'assumed';

export interface Downtime {
  readonly evidence: DowntimeEvidence;
  /** Infinity if its beginning was not observed. */
  readonly ms: number;
}

export type ReadError = ApiError | KubeconfigError;

export type FailureKind = 'api_server_unreachable' | 'kubeconfig_unusable' | 'lease_list_failed' | 'throttled';

export type Verdict =
  | {
      readonly kind: 'unhealthy';
      /** Monotonic instant at which the share of expired leases reached the threshold, all candidates became silent, or the external probe was decisive. */
      readonly crossedAt: number;
      /** Time from `crossedAt` until expired leases alone would have reached the threshold, in milliseconds. */
      readonly earlyByMs?: number;
    }
  | { readonly kind: 'healthy'; readonly scope: 'all' | 'held' }
  | { readonly kind: 'skipped' }
  /** A second observation must confirm the scale-down: it rests on timestamps alone or on the silence of all, or only we were cut off until just now. */
  | { readonly kind: 'confirming' }
  /** The outage is over, but some kubelets are late: held resources stay held until `until`, a monotonic instant, unless all renew sooner. */
  | { readonly kind: 'landing'; readonly renewed: number; readonly awaited: number; readonly until: number }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly error: ReadError };

/** Name of a verdict in the log, the metrics and the demo. */
export type VerdictName = 'healthy' | 'unhealthy' | 'confirming' | 'landing' | 'skipped' | FailureKind;

export const verdictNameOf = (verdict: Verdict): VerdictName =>
  verdict.kind === 'failed' ? verdict.failure : verdict.kind;

export interface LeaseCounts {
  readonly candidates: number;
  readonly expired: number;
}
