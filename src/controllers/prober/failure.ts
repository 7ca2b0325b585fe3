import { ApiError, type ApiErrorCode } from '../../domain/index.ts';
import { nextTick, soonestMs, verdictOf } from './decision.ts';
import type { Circumstances, Decision, FailureKind, Observation, ReadError } from './verdict.ts';

export const throttledBackOffMs = 10_000;
/** Whoever answers for a shoot's API server must not silence its prober for good. */
export const longestBackOffMs = 600_000;

/** A failed API server probe or lease list. Where the API server's side failed, nobody could renew either: a dark spell begins. */
export const unreachable = (
  { startedAt, apiServer }: Observation,
  error: ReadError,
  circumstances: Circumstances,
): Decision => {
  const { memory } = circumstances;
  const isDark = error instanceof ApiError && darkCodes.has(error.code) && !isOurFault(error);
  const darkened = isDark && memory.darkSince === undefined ? { ...memory, darkSince: startedAt } : memory;
  const failure = apiServer?.ok === true ? 'lease_list_failed' : 'api_server_unreachable';
  return failed(failure, error, { ...circumstances, memory: darkened });
};

/** Faults of our own side, by Node's code: kubelets, with a way and trust of their own, may well have renewed meanwhile. */
export const isOurFault = ({ cause }: ApiError): boolean => {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^(?:EMFILE|ENFILE|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ELINKLOCAL|EPROXY|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(
    code,
  );
};

const darkCodes: ReadonlySet<ApiErrorCode> = new Set([
  'ConnectionError',
  'Timeout',
  'ServerError',
  'MalformedResponse',
]);

/**
 * Leases may tell of an outage, and it is the seed that does not tell of the machines: looked at again after 1, 2, 4, 8 seconds, for the next
 * tick may be too late for KCM's grace.
 */
export const blind = (error: ApiError, circumstances: Circumstances): Decision => {
  const { memory, now } = circumstances;
  const { blindRuns = 0 } = memory;
  const verdict = { kind: 'failed', failure: 'lease_list_failed', error } as const;
  const known = { ...circumstances, memory: { ...memory, blindRuns: blindRuns + 1 } };
  if (error.handling === 'give-up') return verdictOf(known, { verdict });
  const pauseMs = Math.max(soonestMs * 2 ** blindRuns, error.retryAfterMs ?? 0);
  return verdictOf(known, { verdict, nextRunAt: Math.min(now + pauseMs, nextTick(circumstances)) });
};

/** A run that ends without a judgement. */
export const failed = (failure: FailureKind, error: ReadError, circumstances: Circumstances): Decision => {
  if (!(error instanceof ApiError)) {
    return verdictOf(circumstances, { verdict: { kind: 'failed', failure: 'kubeconfig_unusable', error } });
  }
  if (error.code !== 'TooManyRequests') {
    return verdictOf(circumstances, { verdict: { kind: 'failed', failure, error } });
  }
  const asked = Math.min(error.retryAfterMs ?? 0, longestBackOffMs);
  const backOff = circumstances.now + Math.max(throttledBackOffMs, asked);
  return verdictOf(circumstances, {
    verdict: { kind: 'failed', failure: 'throttled', error },
    nextRunAt: Math.max(backOff, nextTick(circumstances)),
  });
};
