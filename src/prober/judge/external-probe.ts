import { type ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeSettings } from '../config/settings.ts';
import { isOurFault } from './excuse.ts';
import { throttledBackOffMs } from './retry.ts';

// Is the public address of a shoot's API server reachable? It says where the path of the kubelets is broken; the leases say if they get through.

export type Reachability = 'unknown' | 'reachable' | 'unreachable';

/** Result of one attempt. Log and metrics show its `kind`. */
export type AttemptResult =
  /** `backOffMs`: how long the API server required us to wait (`Retry-After`). */
  | { readonly kind: 'answered'; readonly backOffMs?: number }
  | { readonly kind: 'failed'; readonly problem: string }
  /** The attempt proves nothing about the address: the kubeconfig is unusable, or the fault is on our side. */
  | { readonly kind: 'unusable'; readonly problem: string };

/** What the attempts so far show. */
export interface ExternalProbeHistory {
  readonly state: Reachability;
  /** Explanation for people. */
  readonly reason: string;
  /** Number of the latest consecutive attempts that got a response; below, of those that failed. */
  readonly successes: number;
  readonly failures: number;
}

export const untriedExternalProbe: ExternalProbeHistory = {
  state: 'unknown',
  reason: 'not tried yet',
  successes: 0,
  failures: 0,
};

/** Time, in milliseconds, between two attempts that fail until the address counts as unreachable. */
const retryMs = 1_000;

/** Refusals by authentication and authorization: only an API server sends them. */
const refusals: ReadonlySet<ApiErrorCode> = new Set(['Unauthorized', 'Forbidden']);

/**
 * Classifies a failed `GET /version`. A refusal that only an API server sends proves the address reachable. Any other status comes from
 * something in its place, or from a gateway that does not reach it, and would not let kubelets through either.
 */
export const resultOfError = (error: ApiError | KubeconfigError): AttemptResult => {
  const { message: problem } = error;
  if (error instanceof KubeconfigError || isOurFault(error)) return { kind: 'unusable', problem };
  if (error.code === 'TooManyRequests') return { kind: 'answered', backOffMs: throttledBackOffMs(error) };
  return refusals.has(error.code) ? { kind: 'answered' } : { kind: 'failed', problem };
};

/** Enters an attempt into the history. */
export const enterAttempt = (
  history: ExternalProbeHistory,
  result: AttemptResult,
  { failureThreshold, successThreshold }: ExternalProbeSettings,
): ExternalProbeHistory => {
  const { state, reason } = history;
  switch (result.kind) {
    case 'unusable':
      return { ...untriedExternalProbe, reason: result.problem };
    case 'answered': {
      const successes = history.successes + 1;
      const known = { state, reason, successes, failures: 0 };
      return successes < successThreshold ? known : { ...known, state: 'reachable', reason: 'the API server answers' };
    }
    case 'failed': {
      const failures = history.failures + 1;
      const known = { state, reason, successes: 0, failures };
      return failures < failureThreshold ? known : { ...known, state: 'unreachable', reason: result.problem };
    }
  }
};

/** Returns the time from the end of an attempt, which took `tookMs`, to the next one: a second from start to start until failures are enough. */
export const untilNextAttempt = (
  { state, failures }: ExternalProbeHistory,
  result: AttemptResult,
  { tookMs, intervalMs }: { readonly tookMs: number; readonly intervalMs: number },
): number => {
  if (failures > 0 && state !== 'unreachable') return Math.max(0, retryMs - tookMs);
  return result.kind === 'answered' ? Math.max(intervalMs, result.backOffMs ?? 0) : intervalMs;
};
