import { type ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeSettings } from '../settings.ts';
import { isOurFault } from './own-fault.ts';
import { longestBackOffMs, throttledBackOffMs } from './failure.ts';
import type { ExternalProbeView, Reachability } from './probe-input.ts';

/** Result of one attempt. Log and metrics show its `kind`. */
export type AttemptResult =
  /** `backOffMs`: how long the API server required us to wait (`Retry-After`). */
  | { readonly kind: 'answered'; readonly backOffMs?: number }
  | { readonly kind: 'failed'; readonly problem: string }
  /** The attempt proves nothing about the address: the kubeconfig is unusable, or the fault is on our side. */
  | { readonly kind: 'unusable'; readonly problem: string };

/** Results of an external probe's attempts so far. Times are monotonic milliseconds. */
export interface ExternalProbeHistory {
  readonly state: Reachability;
  /** Explanation for people. */
  readonly reason: string;
  /** Number of the latest consecutive attempts that got a response; below, of those that failed. */
  readonly successes: number;
  readonly failures: number;
  /** Start of the first of those failed attempts. */
  readonly failingSince?: number;
  /** Time at which a restart was ruled out: the address is unreachable, and one of its failures began after a probe from inside the seed got a response. */
  readonly provenAt?: number;
  /** Start of the latest attempt that got a response. */
  readonly answeredAt?: number;
  /** Start of the latest attempt. */
  readonly attemptedAt: number;
  readonly nextAttemptAt: number;
  /** The API server allows no attempt before this time. */
  readonly notBefore: number;
}

export const untriedExternalProbe = (firstAttemptAt: number): ExternalProbeHistory => ({
  state: 'unknown',
  reason: 'not tried yet',
  successes: 0,
  failures: 0,
  attemptedAt: Number.NEGATIVE_INFINITY,
  nextAttemptAt: firstAttemptAt,
  notBefore: Number.NEGATIVE_INFINITY,
});

/** Time, in milliseconds, between two attempts that fail until the address counts as unreachable; also the shortest time between any two. */
const retryMs = 1_000;

/**
 * Classifies a failed `GET /version`. A refusal that only an API server sends proves the address reachable. Any other status comes from
 * something in its place, or from a gateway that does not reach it, and would not let kubelets through either.
 */
export const resultOfError = (error: ApiError | KubeconfigError): AttemptResult => {
  const { message: problem } = error;
  if (error instanceof KubeconfigError || isOurFault(error)) return { kind: 'unusable', problem };
  if (error.code === 'TooManyRequests') {
    return { kind: 'answered', backOffMs: Math.max(throttledBackOffMs, error.retryAfterMs ?? 0) };
  }
  return refusals.has(error.code) ? { kind: 'answered' } : { kind: 'failed', problem };
};

/** Refusals by authentication and authorization. */
const refusals: ReadonlySet<ApiErrorCode> = new Set(['Unauthorized', 'Forbidden']);

export interface EndedAttempt {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  /** Start of the latest probe from inside the seed that got a response, as known at `startedAt`. */
  readonly probeAnsweredAt?: number | undefined;
  /** Time until the next attempt, except for retries. */
  readonly intervalMs: number;
}

/** Enters an attempt into the history. */
export const enterAttempt = (
  history: ExternalProbeHistory,
  ended: EndedAttempt,
  settings: ExternalProbeSettings,
): ExternalProbeHistory => {
  const { startedAt, endedAt, result, intervalMs } = ended;
  const base = { attemptedAt: startedAt, nextAttemptAt: endedAt + intervalMs, notBefore: history.notBefore };
  switch (result.kind) {
    case 'unusable':
      return { ...base, state: 'unknown', reason: result.problem, successes: 0, failures: 0 };
    case 'answered': {
      const successes = history.successes + 1;
      const isReachable = successes >= settings.successThreshold;
      const backOff = result.backOffMs === undefined ? 0 : Math.min(result.backOffMs, longestBackOffMs);
      return {
        ...base,
        ...(isReachable
          ? { state: 'reachable', reason: 'the API server answers' }
          : { state: history.state, reason: history.reason }),
        successes,
        failures: 0,
        answeredAt: startedAt,
        notBefore: Math.max(history.notBefore, endedAt + backOff),
      };
    }
    case 'failed':
      return fail(history, { ...ended, problem: result.problem }, { ...settings, base });
  }
};

type Base = Pick<ExternalProbeHistory, 'attemptedAt' | 'nextAttemptAt' | 'notBefore'>;

const fail = (
  history: ExternalProbeHistory,
  { startedAt, endedAt, probeAnsweredAt, problem }: EndedAttempt & { readonly problem: string },
  { failureThreshold, base }: ExternalProbeSettings & { readonly base: Base },
): ExternalProbeHistory => {
  const failures = history.failures + 1;
  const { failingSince = startedAt, answeredAt } = history;
  const isUnreachable = history.state === 'unreachable' || failures >= failureThreshold;
  const hasAnswered = probeAnsweredAt !== undefined && probeAnsweredAt >= failingSince;
  const provenAt = history.provenAt ?? (isUnreachable && hasAnswered ? endedAt : undefined);
  return {
    ...base,
    ...(isUnreachable
      ? { state: 'unreachable', reason: problem }
      : // Retries every second, unless the attempt itself took longer.
        { state: history.state, reason: history.reason, nextAttemptAt: Math.max(endedAt, startedAt + retryMs) }),
    successes: 0,
    failures,
    failingSince,
    ...(provenAt === undefined ? {} : { provenAt }),
    ...(answeredAt === undefined ? {} : { answeredAt }),
  };
};

/** Input for the schedule of the next attempt. Times are monotonic milliseconds. */
export interface AttemptInput {
  readonly mode: ExternalProbeSettings['mode'];
  readonly timeoutMs: number;
  /** Age at which a lease counts as expired. */
  readonly expiryAgeMs: number;
  /** Start of the latest probe from inside the seed that got a response. */
  readonly probeAnsweredAt?: number | undefined;
  /** Time of the next list of leases. */
  readonly nextRunAt?: number | undefined;
}

/** Share of the expiry age for which a response proves the address reachable. Kubelets whose leases have expired fell silent earlier. */
const reachableForShare = 0.5;
/** Share of the expiry age. If the latest attempt would be older than this at the next list of leases, another attempt comes before. */
const refreshedAtShare = 0.4;

/**
 * Returns the time of the next attempt: by the external probe's own schedule, but early enough for a response before the next list of leases, and at once
 * if the only missing proof is a failure after a probe from inside the seed got a response.
 */
export const nextAttemptOf = (history: ExternalProbeHistory, input: AttemptInput): number => {
  const { mode, timeoutMs, expiryAgeMs, probeAnsweredAt, nextRunAt } = input;
  const times = [history.nextAttemptAt];
  if (
    mode !== 'observe' &&
    nextRunAt !== undefined &&
    history.attemptedAt < nextRunAt - refreshedAtShare * expiryAgeMs
  ) {
    times.push(nextRunAt - Math.min(timeoutMs + retryMs, refreshedAtShare * expiryAgeMs));
  }
  const { state, failingSince, provenAt } = history;
  const lacksProof =
    mode === 'trigger' && state === 'unreachable' && provenAt === undefined && failingSince !== undefined;
  if (lacksProof && probeAnsweredAt !== undefined && probeAnsweredAt >= failingSince) times.push(history.attemptedAt);
  return Math.max(Math.min(...times), history.notBefore, history.attemptedAt + retryMs);
};

/**
 * Returns the address's state for a verdict: unreachable only if no restart of the API server explains it, reachable only while the last response
 * is recent and no attempt has failed since.
 */
export const viewExternalProbe = (
  history: ExternalProbeHistory,
  { mode, expiryAgeMs, now }: Pick<AttemptInput, 'mode' | 'expiryAgeMs'> & { readonly now: number },
): ExternalProbeView => {
  const { state, failures, provenAt, answeredAt } = history;
  if (state === 'unreachable' && provenAt !== undefined) return { mode, state, since: provenAt };
  const isReachable = state === 'reachable' && failures === 0 && answeredAt !== undefined;
  return { mode, state: isReachable && now - answeredAt <= reachableForShare * expiryAgeMs ? 'reachable' : 'unknown' };
};
