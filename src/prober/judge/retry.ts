import { ApiError } from '../../kubernetes/api/errors.ts';
import {
  type Decision,
  decisionOf,
  nextScheduledRun,
  type ProbeInput,
  type FailureKind,
  type ReadError,
} from './judgement.ts';
import { rememberFailure } from './excuse.ts';
import { expiryAgeOf } from './leases.ts';
import { outageOfSomeFrom } from './rules.ts';

/** Shortest and longest back-off, in milliseconds, that a 429 of a shoot can ask for; any other means the longest. */
const [leastBackOffMs, mostBackOffMs] = [1_000, 10_000];
/** A failed run is repeated after this time, in milliseconds, while leases are old enough for an outage. */
const repeatMs = 2_000;
const half = 0.5;

/** Decides after a failed `GET /version` or list of leases of a run that began at `startedAt`. */
export const afterFailedShootRead = (
  run: { readonly startedAt: number; readonly failure: FailureKind; readonly error: ReadError },
  input: ProbeInput,
): Decision => afterFailure(run, { ...input, memory: rememberFailure(input.memory, run.startedAt, run.error) });

/** Decides after a failed read of nodes or machines. A 429 of the seed (`isSeed`) does not mean that the shoot throttles us. */
export const afterFailedCandidateRead = (
  failed: { readonly error: ReadError; readonly isSeed: boolean },
  input: ProbeInput,
): Decision => afterFailure({ ...failed, failure: failed.isSeed ? 'machine_list_failed' : 'node_list_failed' }, input);

const afterFailure = (
  {
    failure,
    error,
    isSeed = false,
  }: { readonly failure: FailureKind; readonly error: ReadError; readonly isSeed?: boolean },
  input: ProbeInput,
): Decision => {
  const { now } = input;
  const kind = 'failed';
  if (error instanceof ApiError && error.code === 'TooManyRequests' && !isSeed) {
    const nextRunAt = now + throttledBackOffMs(error);
    return decisionOf(input, { verdict: { kind, failure: 'throttled', error }, nextRunAt });
  }
  const tick = nextScheduledRun(input);
  return decisionOf(input, {
    verdict: { kind, failure: error instanceof ApiError ? failure : 'kubeconfig_unusable', error },
    nextRunAt: mayBeOutage(input) ? Math.min(tick, now + repeatMs) : tick,
  });
};

/** Returns the wait after a 429: a longer `Retry-After` is not waited for, because two requests in ten seconds burden nobody, and a minute costs all nodes. */
export const throttledBackOffMs = ({ retryAfterMs = mostBackOffMs }: Pick<ApiError, 'retryAfterMs'>): number =>
  retryAfterMs >= leastBackOffMs && retryAfterMs <= mostBackOffMs ? retryAfterMs : mostBackOffMs;

/** True if enough leases of the latest list are older than half of the limit. */
const mayBeOutage = ({ memory, settings, now }: ProbeInput): boolean => {
  const older = memory.leases.map((lease) => ({
    ...lease,
    expiresAt: lease.silentSince + half * expiryAgeOf(lease, settings),
  }));
  return now >= outageOfSomeFrom(older, settings).at;
};
