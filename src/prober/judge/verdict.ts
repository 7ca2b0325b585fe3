import type { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';

/** A failure of the API server, 15 s or longer, that it proved to us and that has ended. */
export interface Downtime {
  readonly ms: number;
}

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
      /** Time from `crossedAt` until expired leases alone would have reached the threshold, in milliseconds. */
      readonly earlyByMs?: number;
    }
  | { readonly kind: 'healthy'; readonly scope: 'all' | 'held' }
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

export interface LeaseCounts {
  readonly candidates: number;
  readonly expired: number;
}
