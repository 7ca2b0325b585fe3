import { renewalsOf } from './lease-history.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { decisionOf, nextScheduledRun, minRetryDelayMs } from './decision.ts';
import { downtimeMs, lengthenSpell } from './downtime.ts';
import type { ObservedLease } from './observed-leases.ts';
import { earliestReach, mayReachAt } from './lease-threshold.ts';
import type { Decision } from './decision.ts';
import type { ProbeInput } from './probe-input.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { FailureKind, ReadError, Verdict } from './verdict.ts';

export const throttledBackOffMs = 10_000;
/** Longest back-off, in milliseconds, that a server's response can request: a hostile one must not stop the probes of a shoot for good. */
export const longestBackOffMs = 600_000;

/** Longest time, in milliseconds, that a list of leases takes while responses are quick. */
const listMs = 2_000;

export interface UnreachableRun {
  readonly startedAt: number;
  readonly failure: 'api_server_unreachable' | 'lease_list_failed';
  readonly error: ReadError;
}

/** Decides after a failed `GET /version` or list of leases: starts or continues a spell in which the API server may be down. */
export const afterFailedShootRead = ({ startedAt, failure, error }: UnreachableRun, input: ProbeInput): Decision => {
  const { memory } = input;
  const withSpell = { ...input, memory: lengthenSpell(memory, startedAt, error) };
  return failed({ failure, error, renewals: renewalsOf(memory.history) }, withSpell);
};

/** Decides after a failed list of nodes or machines. A 429 of the seed (`isSeed`) does not mean that the shoot throttles us. */
export const afterFailedCandidateRead = (
  {
    error,
    isSeed,
    leases,
  }: { readonly error: ReadError; readonly isSeed: boolean; readonly leases: readonly ObservedLease[] },
  input: ProbeInput,
): Decision => {
  const { expiryAgeMs } = input.settings;
  const renewals = leases.map(({ expiresAt }) => expiresAt - expiryAgeMs);
  return failed({ failure: 'lease_list_failed', error, renewals, isSeed }, input);
};

type FailedVerdict = Extract<Verdict, { kind: 'failed' }>;

interface FailedRun {
  readonly failure: FailureKind;
  readonly error: ReadError;
  /** Monotonic instants from which the ages of the known leases count. */
  readonly renewals: readonly number[];
  readonly isSeed?: boolean;
}

/** Decides after a run that ends without a judgement. */
const failed = ({ failure, error, renewals, isSeed = false }: FailedRun, input: ProbeInput): Decision => {
  const kind = 'failed';
  if (error instanceof ApiError && error.code === 'TooManyRequests' && !isSeed) {
    const requestedMs = Math.min(error.retryAfterMs ?? 0, longestBackOffMs);
    const backOff = input.now + Math.max(throttledBackOffMs, requestedMs);
    const verdict = { kind, failure: 'throttled', error } as const;
    return decisionOf(input, { verdict, nextRunAt: Math.max(backOff, nextScheduledRun(input)) });
  }
  const failureKind = error instanceof ApiError ? failure : 'kubeconfig_unusable';
  return scheduleRetry({ kind, failure: failureKind, error }, renewals, input);
};

/**
 * Schedules the next run. One bad response must not cost a whole interval while an outage may be under way: if enough leases are older than half of the
 * expiry age, the next run comes after 1, 2, 4, 8 s and so on, at the next tick at the latest; the count restarts when they expire.
 * `Retry-After` delays the run up to that tick.
 */
const scheduleRetry = (verdict: FailedVerdict, renewals: readonly number[], input: ProbeInput): Decision => {
  const { memory, now, settings } = input;
  const { expiryAgeMs } = settings;
  const olderThan = (ms: number): boolean =>
    mayReachAt(
      renewals.map((at) => at + ms),
      now,
      settings,
    );
  const tick = nextScheduledRun(input);
  const soonest = now + Math.max(minRetryDelayMs, retryAfterMsOf(verdict.error));
  const deadlines = [tick, lastChanceAt(memory, now)];
  if (!olderThan(expiryAgeMs / 2)) {
    return decisionOf(input, { verdict, nextRunAt: Math.min(tick, earliest(deadlines, soonest)) });
  }
  const isExpired = olderThan(expiryAgeMs);
  const before = memory.failedRuns?.isExpired === isExpired ? memory.failedRuns.count : 0;
  deadlines.push(now + minRetryDelayMs * 2 ** before);
  if (!isExpired) {
    deadlines.push(
      earliestReach(
        renewals.map((at) => at + expiryAgeMs),
        settings,
      ) ?? tick,
    );
  }
  return decisionOf(input, {
    verdict,
    nextRunAt: Math.min(tick, earliest(deadlines, soonest)),
    memory: { ...memory, failedRuns: { count: before + 1, isExpired } },
  });
};

const retryAfterMsOf = (error: ReadError): number => (error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);

/** Returns the first of the deadlines, but not before `soonest`. */
const earliest = (deadlines: readonly number[], soonest: number): number => Math.max(soonest, Math.min(...deadlines));

/**
 * Returns the instant of the last run that can still end the spell before it counts as downtime; Infinity once it has passed. Without that run a few bad
 * responses in a row would count as downtime, and an outage would be detected an expiry age later.
 */
const lastChanceAt = ({ unreachableSpell: spell }: ProbeMemory, now: number): number => {
  const at = (spell?.since ?? Number.NEGATIVE_INFINITY) + downtimeMs - listMs;
  return at > now ? at : Number.POSITIVE_INFINITY;
};
