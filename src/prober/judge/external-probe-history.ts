import { type ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeSettings } from '../settings.ts';
import { isOurFault } from './own-fault.ts';
import { longestBackOffMs, throttledBackOffMs } from './failure.ts';
import type { ExternalProbeView, Reachability } from './probe-input.ts';

/** What one attempt has shown. */
export type AttemptResult =
  /** `backOffMs`: the API server asked for no request for so long. */
  | { readonly kind: 'answered'; readonly backOffMs?: number }
  | { readonly kind: 'failed'; readonly problem: string }
  /** It shows nothing of the address: the kubeconfig cannot be used, or the fault is on our side. */
  | { readonly kind: 'unusable'; readonly problem: string };

/** What the attempts of an external probe have shown so far. Times are monotonic milliseconds. */
export interface ExternalProbeHistory {
  readonly state: Reachability;
  /** In words, for people. */
  readonly reason: string;
  /** Of the latest attempts, those in a row that were answered, or that failed. */
  readonly successes: number;
  readonly failures: number;
  /** Start of the first of those failures. */
  readonly failingSince?: number;
  /** When the address was unreachable and one of those failures had begun after a probe from inside the seed was answered: no restart explains them. */
  readonly provenAt?: number;
  /** Start of the latest attempt that was answered. */
  readonly answeredAt?: number;
  /** Start of the latest attempt. */
  readonly attemptedAt: number;
  readonly nextAttemptAt: number;
  /** The API server asked for no request before. */
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

/** Between two attempts that fail, until the address counts as unreachable. */
const retryMs = 1_000;

/**
 * What a failed `GET /version` says of the address. A refusal that only an API server utters is an answer; any other status comes from
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

/** By authentication and authorization. */
const refusals: ReadonlySet<ApiErrorCode> = new Set(['Unauthorized', 'Forbidden']);

export interface EndedAttempt {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  /** As of `startedAt`: start of the latest probe from inside the seed that was answered. */
  readonly probeAnsweredAt?: number | undefined;
  /** Until the next attempt, but for retries. */
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
      : // Every second, unless the attempt itself took longer.
        { state: history.state, reason: history.reason, nextAttemptAt: Math.max(endedAt, startedAt + retryMs) }),
    successes: 0,
    failures,
    failingSince,
    ...(provenAt === undefined ? {} : { provenAt }),
    ...(answeredAt === undefined ? {} : { answeredAt }),
  };
};

/** What decides when the next attempt is due. Times are monotonic milliseconds. */
export interface AttemptInput {
  readonly mode: ExternalProbeSettings['mode'];
  readonly timeoutMs: number;
  /** Age at which a lease counts as expired. */
  readonly expiryAgeMs: number;
  /** Start of the latest probe from inside the seed that was answered. */
  readonly probeAnsweredAt?: number | undefined;
  /** When the leases are listed next. */
  readonly nextRunAt?: number | undefined;
}

/** Share of the expiry age for which an answer shows that the address is reachable. Kubelets that have expired fell silent earlier. */
const reachableForShare = 0.5;
/** Share of the expiry age: if the last answer would be older than that when the leases are listed next, an attempt comes before. */
const renewedAtShare = 0.4;

/**
 * When the next attempt is due: by the external probe's own schedule, but early enough for an answer when the leases are listed, and at once where all
 * that is missing is a failure after an answered probe from inside the seed.
 */
export const nextAttemptOf = (history: ExternalProbeHistory, wish: AttemptInput): number => {
  const { mode, timeoutMs, expiryAgeMs, probeAnsweredAt, nextRunAt } = wish;
  const times = [history.nextAttemptAt];
  if (mode !== 'observe' && nextRunAt !== undefined && history.attemptedAt < nextRunAt - renewedAtShare * expiryAgeMs) {
    times.push(nextRunAt - Math.min(timeoutMs + retryMs, renewedAtShare * expiryAgeMs));
  }
  const { state, failingSince, provenAt } = history;
  const lacksProof =
    mode === 'trigger' && state === 'unreachable' && provenAt === undefined && failingSince !== undefined;
  if (lacksProof && probeAnsweredAt !== undefined && probeAnsweredAt >= failingSince) times.push(history.attemptedAt);
  return Math.max(Math.min(...times), history.notBefore, history.attemptedAt + retryMs);
};

/**
 * The address as it counts in a verdict: unreachable only where no restart of the API server explains it, reachable only as long as the last answer
 * is young and nothing has failed since.
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
