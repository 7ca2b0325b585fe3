import type { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';

/** Why a spell without a list of leases counts as downtime; `assumed`: the Deployment of the API server is not known, so it may have been. */
export type DowntimeEvidence = 'answers' | 'no-available-replica' | 'assumed';

export interface Downtime {
  readonly evidence: DowntimeEvidence;
  /** Infinity where its beginning was not seen. */
  readonly ms: number;
}

export type ReadError = ApiError | KubeconfigError;

export type FailureKind = 'api_server_unreachable' | 'kubeconfig_unusable' | 'lease_list_failed' | 'throttled';

export type Verdict =
  | {
      readonly kind: 'unhealthy';
      /** Monotonic instant at which the share of expired leases reached the threshold, all candidates counted as silent, or the external probe was decisive. */
      readonly crossedAt: number;
      /** How long before the share of expired leases would have reached the threshold that was, in milliseconds. */
      readonly earlyByMs?: number;
    }
  | { readonly kind: 'healthy'; readonly scope: 'all' | 'held' }
  | { readonly kind: 'skipped' }
  /** A scale-down that rests on timestamps alone or on the silence of all, or that comes right after a time in which only we were cut off: a second observation decides. */
  | { readonly kind: 'confirming' }
  /** The outage is over, but kubelets that are late are waited for: what is held stays held until `until`, a monotonic instant. */
  | { readonly kind: 'landing'; readonly renewed: number; readonly awaited: number; readonly until: number }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly error: ReadError };

/** The one word for a verdict, in log, metrics and demo alike. */
export type VerdictWord = 'healthy' | 'unhealthy' | 'confirming' | 'landing' | 'skipped' | FailureKind;

export const wordOf = (verdict: Verdict): VerdictWord => (verdict.kind === 'failed' ? verdict.failure : verdict.kind);

export interface LeaseCounts {
  readonly candidates: number;
  readonly expired: number;
}
