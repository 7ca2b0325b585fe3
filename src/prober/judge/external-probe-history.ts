import { type ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeSettings } from '../settings.ts';
import { isOurFault } from './own-fault.ts';
import { longestBackOffMs, throttledBackOffMs } from './failure.ts';
import type { ExternalProbeView, Reachability } from './verdict.ts';

/** What one try has shown. */
export type AttemptResult =
  /** `backOffMs`: it asked to be left alone for so long. */
  | { readonly kind: 'answered'; readonly backOffMs?: number }
  | { readonly kind: 'failed'; readonly problem: string }
  /** It says nothing of the path: the kubeconfig cannot be used, or the fault is on our side. */
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
  /** When the path was unreachable and one of those failures had begun after an answer on the inside path: no restart explains them. */
  readonly provenAt?: number;
  /** Start of the latest try that was answered. */
  readonly answeredAt?: number;
  /** Start of the latest try. */
  readonly attemptedAt: number;
  readonly nextAttemptAt: number;
  /** The API server asked not to be tried before. */
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

/** While it fails, until it counts as unreachable. */
const retryMs = 1_000;

/**
 * What a failed `GET /version` says of the path. A refusal that only an API server utters is an answer; any other status comes from
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
  /** When the try began: start of the latest run whose API server probe was answered. */
  readonly insideAnsweredAt?: number | undefined;
  /** Until the next try, but for retries. */
  readonly intervalMs: number;
}

/** Takes in a try. */
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
      const isWhole = successes >= settings.successThreshold;
      const backOff = result.backOffMs === undefined ? 0 : Math.min(result.backOffMs, longestBackOffMs);
      return {
        ...base,
        ...(isWhole
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
  { startedAt, endedAt, insideAnsweredAt, problem }: EndedAttempt & { readonly problem: string },
  { failureThreshold, base }: ExternalProbeSettings & { readonly base: Base },
): ExternalProbeHistory => {
  const failures = history.failures + 1;
  const { failingSince = startedAt, answeredAt } = history;
  const isBroken = history.state === 'unreachable' || failures >= failureThreshold;
  const hasAnswered = insideAnsweredAt !== undefined && insideAnsweredAt >= failingSince;
  const provenAt = history.provenAt ?? (isBroken && hasAnswered ? endedAt : undefined);
  return {
    ...base,
    ...(isBroken
      ? { state: 'unreachable', reason: problem }
      : // Every second, unless the try itself took longer.
        { state: history.state, reason: history.reason, nextAttemptAt: Math.max(endedAt, startedAt + retryMs) }),
    successes: 0,
    failures,
    failingSince,
    ...(provenAt === undefined ? {} : { provenAt }),
    ...(answeredAt === undefined ? {} : { answeredAt }),
  };
};

/** What a try is wanted for. Times are monotonic milliseconds. */
export interface AttemptInput {
  readonly mode: ExternalProbeSettings['mode'];
  readonly timeoutMs: number;
  /** Age at which a lease counts as expired. */
  readonly limitMs: number;
  /** Start of the latest run whose API server probe was answered. */
  readonly insideAnsweredAt?: number | undefined;
  /** When the leases are looked at next. */
  readonly nextRunAt?: number | undefined;
}

/** Of the limit: for so long an answer shows that the path is reachable. Silence of kubelets began earlier. */
const reachableForOfLimit = 0.5;
/** Of the limit: an answer that would be older than that at the next look at the leases is asked for again before. */
const renewedOfLimit = 0.4;

/**
 * When the path is to be tried next: by its own schedule, but early enough for its answer to be at hand when the leases are looked at,
 * and at once where the only thing missing is a try after an answer on the inside path.
 */
export const nextAttemptOf = (history: ExternalProbeHistory, wish: AttemptInput): number => {
  const { mode, timeoutMs, limitMs, insideAnsweredAt, nextRunAt } = wish;
  const times = [history.nextAttemptAt];
  if (mode !== 'observe' && nextRunAt !== undefined && history.attemptedAt < nextRunAt - renewedOfLimit * limitMs) {
    times.push(nextRunAt - Math.min(timeoutMs + retryMs, renewedOfLimit * limitMs));
  }
  const { state, failingSince, provenAt } = history;
  const lacksProof =
    mode === 'trigger' && state === 'unreachable' && provenAt === undefined && failingSince !== undefined;
  if (lacksProof && insideAnsweredAt !== undefined && insideAnsweredAt >= failingSince) times.push(history.attemptedAt);
  return Math.max(Math.min(...times), history.notBefore, history.attemptedAt + retryMs);
};

/**
 * The path as it counts in a verdict: unreachable only where no restart of the API server explains it, reachable only as long as its last answer
 * is young and nothing has failed since.
 */
export const viewExternalProbe = (
  history: ExternalProbeHistory,
  { mode, limitMs, now }: Pick<AttemptInput, 'mode' | 'limitMs'> & { readonly now: number },
): ExternalProbeView => {
  const { state, failures, provenAt, answeredAt } = history;
  if (state === 'unreachable' && provenAt !== undefined) return { mode, state, since: provenAt };
  const isWhole = state === 'reachable' && failures === 0 && answeredAt !== undefined;
  return { mode, state: isWhole && now - answeredAt <= reachableForOfLimit * limitMs ? 'reachable' : 'unknown' };
};
