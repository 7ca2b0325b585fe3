import { type Right, formatRight } from '../kubernetes/api/access.ts';
import type { Answer, Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { Clock } from '../ports/clock.ts';
import type { SeedRead } from './checks/check.ts';

/** The seed, as whoever runs the command may read it. */
export interface Reader {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Aborts when the user has had enough. */
  readonly signal: AbortSignal;
  /** Monotonic instant at which the whole preflight ends. */
  readonly deadline: number;
}

const requestTimeoutMs = 30_000;

/** `limitMs`: for one request, or for a list of a thousand objects, which comes in pages. */
export const optionsOf = ({ clock, signal, deadline }: Reader, limitMs = requestTimeoutMs): CallOptions => ({
  signal,
  timeoutMs: Math.max(1, Math.min(limitMs, deadline - clock.monotonic())),
});

export const send = <T>(reader: Reader, call: Call<T>, limitMs?: number): Promise<Answer<T>> =>
  reader.client.call(call, optionsOf(reader, limitMs));

/**
 * What `work` resolves with; a failure of the API server becomes the finding that the check cannot be made. `right`: what a refusal says
 * is missing. Rejects only with what is no ApiError.
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
