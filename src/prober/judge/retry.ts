import { ApiError, isApiError } from '../../kubernetes/api/errors.ts';
import { type Decision, type ProbeInput, type FailureKind, type ReadError, nextRunAt } from './judgement.ts';
import { rememberFailure } from './excuse.ts';
import { expiryAgeOf } from './leases.ts';
import { outageOfSomeFrom } from './rules.ts';

/** Shortest and longest back-off, in milliseconds, that a 429 of a shoot can ask for; any other means the longest. */
const [leastBackOffMs, mostBackOffMs] = [1_000, 10_000];
/** A failed run is repeated after this time, in milliseconds, once leases are old enough for an outage. */
const repeatMs = 2_000;
const half = 0.5;

/** A read of a run that has failed. */
interface FailedRead {
  readonly failure: FailureKind;
  readonly error: ReadError;
  /** When the run began, if it got no list of the leases: that may excuse their silence. */
  readonly startedAt?: number;
}

/** Decides after a failed read: there is no verdict. */
export const afterFailedRead = ({ failure, error, startedAt }: FailedRead, input: ProbeInput): Decision => {
  const { now } = input;
  const memory = startedAt === undefined ? input.memory : rememberFailure(input.memory, startedAt, error);
  const failed = { kind: 'failed', error } as const;
  const reason = error.message;
  // A 429 of the seed does not mean that the shoot throttles us.
  if (isApiError(error, 'TooManyRequests') && failure !== 'machine_list_failed') {
    const verdict = { ...failed, failure: 'throttled' } as const;
    return { verdict, reason, memory, nextRunAt: now + throttledBackOffMs(error) };
  }
  return {
    verdict: { ...failed, failure: error instanceof ApiError ? failure : 'kubeconfig_unusable' },
    reason,
    memory,
    nextRunAt: nextRunAt(input, Math.max(now + repeatMs, mayBeOutageFrom(input))),
  };
};

/** Returns the wait after a 429: a longer `Retry-After` is not waited for, because two requests in ten seconds burden nobody, and a minute costs all nodes. */
export const throttledBackOffMs = ({ retryAfterMs = mostBackOffMs }: Pick<ApiError, 'retryAfterMs'>): number =>
  retryAfterMs >= leastBackOffMs && retryAfterMs <= mostBackOffMs ? retryAfterMs : mostBackOffMs;

/** Returns from when on enough leases of the latest list are older than half of the limit. If none was answered yet, they may be so already. */
const mayBeOutageFrom = ({ memory, settings }: ProbeInput): number => {
  if (memory.listedAt === undefined) return Number.NEGATIVE_INFINITY;
  const older = memory.leases.map((lease) => ({
    ...lease,
    expiresAt: lease.silentSince + half * expiryAgeOf(lease, settings),
  }));
  return outageOfSomeFrom(older, settings);
};
