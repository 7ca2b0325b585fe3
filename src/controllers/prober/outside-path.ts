import { type ApiError, type ApiErrorCode, KubeconfigError, type OutsidePathSettings } from '../../domain/index.ts';
import { longestBackOffMs, throttledBackOffMs } from './failure.ts';
import { isOurFault } from './failure-cause.ts';
import type { OutsideView, PathState } from './verdict.ts';

/** What one try has shown. */
export type TryResult =
  /** `backOffMs`: it asked to be left alone for so long. */
  | { readonly kind: 'answered'; readonly backOffMs?: number }
  | { readonly kind: 'failed'; readonly problem: string }
  /** It says nothing of the path: the kubeconfig cannot be used, or the fault is on our side. */
  | { readonly kind: 'unusable'; readonly problem: string };

/** What the tries of an outside path have shown so far. Times are monotonic milliseconds. */
export interface OutsidePath {
  readonly state: PathState;
  /** In words, for people. */
  readonly reason: string;
  /** Of the latest tries, those in a row that were answered, or that failed. */
  readonly successes: number;
  readonly failures: number;
  /** Start of the first of those failures. */
  readonly failingSince?: number;
  /** When the path was broken and one of those failures had begun after an answer on the inside path: no restart explains them. */
  readonly provenAt?: number;
  /** Start of the latest try that was answered. */
  readonly answeredAt?: number;
  /** Start of the latest try. */
  readonly triedAt: number;
  readonly nextTryAt: number;
  /** The API server asked not to be tried before. */
  readonly notBefore: number;
}

export const untriedPath = (firstTryAt: number): OutsidePath => ({
  state: 'unknown',
  reason: 'not tried yet',
  successes: 0,
  failures: 0,
  triedAt: Number.NEGATIVE_INFINITY,
  nextTryAt: firstTryAt,
  notBefore: Number.NEGATIVE_INFINITY,
});

/** While it fails, until it counts as broken. */
const retryMs = 1_000;

/**
 * What a failed `GET /version` says of the path. A refusal that only an API server utters is an answer; any other status comes from
 * something in its place, or from a gateway that does not reach it, and would not let kubelets through either.
 */
export const resultOfError = (error: ApiError | KubeconfigError): TryResult => {
  const { message: problem } = error;
  if (error instanceof KubeconfigError || isOurFault(error)) return { kind: 'unusable', problem };
  if (error.code === 'TooManyRequests') {
    return { kind: 'answered', backOffMs: Math.max(throttledBackOffMs, error.retryAfterMs ?? 0) };
  }
  return refusals.has(error.code) ? { kind: 'answered' } : { kind: 'failed', problem };
};

/** By authentication and authorization. */
const refusals: ReadonlySet<ApiErrorCode> = new Set(['Unauthorized', 'Forbidden']);

export interface EndedTry {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: TryResult;
  /** When the try began: start of the latest run whose API server probe was answered. */
  readonly insideAnsweredAt?: number | undefined;
  /** Until the next try, but for retries. */
  readonly intervalMs: number;
}

/** Takes in a try. */
export const takeTry = (path: OutsidePath, ended: EndedTry, settings: OutsidePathSettings): OutsidePath => {
  const { startedAt, endedAt, result, intervalMs } = ended;
  const base = { triedAt: startedAt, nextTryAt: endedAt + intervalMs, notBefore: path.notBefore };
  switch (result.kind) {
    case 'unusable':
      return { ...base, state: 'unknown', reason: result.problem, successes: 0, failures: 0 };
    case 'answered': {
      const successes = path.successes + 1;
      const isWhole = successes >= settings.successThreshold;
      const backOff = result.backOffMs === undefined ? 0 : Math.min(result.backOffMs, longestBackOffMs);
      return {
        ...base,
        ...(isWhole
          ? { state: 'whole', reason: 'the API server answers' }
          : { state: path.state, reason: path.reason }),
        successes,
        failures: 0,
        answeredAt: startedAt,
        notBefore: Math.max(path.notBefore, endedAt + backOff),
      };
    }
    case 'failed':
      return fail(path, { ...ended, problem: result.problem }, { ...settings, base });
  }
};

type Base = Pick<OutsidePath, 'triedAt' | 'nextTryAt' | 'notBefore'>;

const fail = (
  path: OutsidePath,
  { startedAt, endedAt, insideAnsweredAt, problem }: EndedTry & { readonly problem: string },
  { failureThreshold, base }: OutsidePathSettings & { readonly base: Base },
): OutsidePath => {
  const failures = path.failures + 1;
  const { failingSince = startedAt, answeredAt } = path;
  const isBroken = path.state === 'broken' || failures >= failureThreshold;
  const hasAnswered = insideAnsweredAt !== undefined && insideAnsweredAt >= failingSince;
  const provenAt = path.provenAt ?? (isBroken && hasAnswered ? endedAt : undefined);
  return {
    ...base,
    ...(isBroken
      ? { state: 'broken', reason: problem }
      : // Every second, unless the try itself took longer.
        { state: path.state, reason: path.reason, nextTryAt: Math.max(endedAt, startedAt + retryMs) }),
    successes: 0,
    failures,
    failingSince,
    ...(provenAt === undefined ? {} : { provenAt }),
    ...(answeredAt === undefined ? {} : { answeredAt }),
  };
};

/** What a try is wanted for. Times are monotonic milliseconds. */
export interface TryWish {
  readonly mode: OutsidePathSettings['mode'];
  readonly timeoutMs: number;
  /** Age at which a lease counts as expired. */
  readonly limitMs: number;
  /** Start of the latest run whose API server probe was answered. */
  readonly insideAnsweredAt?: number | undefined;
  /** When the leases are looked at next. */
  readonly nextRunAt?: number | undefined;
}

/** Of the limit: for so long an answer shows that the path is whole. Silence of kubelets began earlier. */
const wholeForOfLimit = 0.5;
/** Of the limit: an answer that would be older than that at the next look at the leases is asked for again before. */
const renewedOfLimit = 0.4;

/**
 * When the path is to be tried next: by its own schedule, but early enough for its answer to be at hand when the leases are looked at,
 * and at once where the only thing missing is a try after an answer on the inside path.
 */
export const nextTryOf = (path: OutsidePath, wish: TryWish): number => {
  const { mode, timeoutMs, limitMs, insideAnsweredAt, nextRunAt } = wish;
  const times = [path.nextTryAt];
  if (mode !== 'observe' && nextRunAt !== undefined && path.triedAt < nextRunAt - renewedOfLimit * limitMs) {
    times.push(nextRunAt - Math.min(timeoutMs + retryMs, renewedOfLimit * limitMs));
  }
  const { state, failingSince, provenAt } = path;
  const lacksProof = mode === 'trigger' && state === 'broken' && provenAt === undefined && failingSince !== undefined;
  if (lacksProof && insideAnsweredAt !== undefined && insideAnsweredAt >= failingSince) times.push(path.triedAt);
  return Math.max(Math.min(...times), path.notBefore, path.triedAt + retryMs);
};

/**
 * The path as it counts in a verdict: broken only where no restart of the API server explains it, whole only as long as its last answer
 * is young and nothing has failed since.
 */
export const viewPath = (
  path: OutsidePath,
  { mode, limitMs, now }: Pick<TryWish, 'mode' | 'limitMs'> & { readonly now: number },
): OutsideView => {
  const { state, failures, provenAt, answeredAt } = path;
  if (state === 'broken' && provenAt !== undefined) return { mode, state, since: provenAt };
  const isWhole = state === 'whole' && failures === 0 && answeredAt !== undefined;
  return { mode, state: isWhole && now - answeredAt <= wholeForOfLimit * limitMs ? 'whole' : 'unknown' };
};
