import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type PodView, deletePod } from '../kubernetes/api/pod.ts';
import type { DeleteOutcome } from './judge/attempts.ts';

export interface WeederActDeps {
  /** Client that refuses a write right before it is sent if this process does not lead. */
  readonly client: KubeClient;
  /** True if nothing is written: a delete then succeeds at once. */
  readonly dryRun: boolean;
}

export interface DeleteRequest {
  readonly pod: PodView;
  /** Cancels the delete if it is not sent yet. If it is sent, its response is awaited. */
  readonly signal: AbortSignal;
  /** True if the delete is still wanted. Called right before it is sent, because the process may have been suspended meanwhile. */
  readonly isWanted: () => boolean;
}

export interface DeleteResult {
  readonly outcome: DeleteOutcome;
  readonly error?: ApiError;
}

/**
 * Timeouts of a delete in milliseconds: including its wait for a free slot, and from sending to the response. The first is long, because a thousand deletes of
 * a second each are no failure; the end of the weeding cancels the wait.
 */
const timeoutMs = 600_000;
const sentTimeoutMs = 10_000;

/** Deletes the pod if it is still in the state that the watch has shown. A failure is an outcome of the result; the promise rejects only for a bug. */
export const act = async ({ client, dryRun }: WeederActDeps, request: DeleteRequest): Promise<DeleteResult> => {
  if (dryRun) return { outcome: { kind: 'deleted' } };
  const { pod, signal, isWanted } = request;
  const tooLate = new ApiError({ code: 'Rejected', message: `DELETE of pod ${pod.name}: not sent: no longer wanted` });
  const beforeSend = (): void => {
    if (!isWanted()) throw tooLate;
  };
  try {
    await client.call(deletePod(pod), {
      signal,
      timeoutMs,
      sentTimeoutMs,
      priority: 'urgent',
      noRetry: true,
      beforeSend,
    });
    return { outcome: { kind: 'deleted' } };
  } catch (error) {
    if (error === tooLate) return { outcome: { kind: 'unsent' } };
    if (error instanceof ApiError) return failureOf(error);
    if (signal.aborted) return { outcome: { kind: 'unsent' } };
    throw error;
  }
};

const failureOf = (error: ApiError): DeleteResult => {
  if (error.code === 'NotFound') return { outcome: { kind: 'gone' } };
  if (error.code === 'Conflict') return { outcome: { kind: 'changed', error } };
  const { retryAfterMs = 0, handling, rateLimited } = error;
  // The server did not refuse the delete, but its response is lost or unreadable.
  const mayHaveTakenEffect = handling === 'retry' && !rateLimited;
  return { outcome: { kind: 'failed', retryAfterMs, mayHaveTakenEffect }, error };
};
