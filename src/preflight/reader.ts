import { type Right, formatRight } from '../kubernetes/api/access.ts';
import type { CallResult, Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { Clock } from '../ports/clock.ts';
import type { SeedRead } from './checks/check.ts';

/** Access to the seed with the rights of the user who runs the command. */
export interface Reader {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Aborts when the user stops the command. */
  readonly signal: AbortSignal;
  /** Monotonic time at which the whole preflight ends, in milliseconds. */
  readonly deadline: number;
}

const requestTimeoutMs = 30_000;

/** Returns the options of a call. `limitMs`: timeout of one request, or of all pages of a list. */
export const optionsOf = ({ clock, signal, deadline }: Reader, limitMs = requestTimeoutMs): CallOptions => ({
  signal,
  timeoutMs: Math.max(1, Math.min(limitMs, deadline - clock.monotonic())),
});

export const send = <T>(reader: Reader, call: Call<T>, limitMs?: number): Promise<CallResult<T>> =>
  reader.client.call(call, optionsOf(reader, limitMs));

/**
 * Returns the result of `work`. An ApiError becomes the finding that the check could not be made; if the request was refused, the finding names `right`.
 * Rejects with all other errors.
 */
export const attempt = async <T>(right: Right, work: () => Promise<T>): Promise<SeedRead<T>> => {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isRefused = error.code === 'Forbidden';
    const detail = isRefused ? `you may not ${formatRight(right)}` : error.message;
    return { ok: false, error: { code: isRefused ? 'read-refused' : 'read-failed', detail } };
  }
};
