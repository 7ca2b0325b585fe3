import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type PodView, deletePod } from '../kubernetes/api/pod.ts';
import type { DeleteOutcome } from './events.ts';

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
  /** True if the delete is still wanted. Called right before it is sent: its weeding may have ended while it waited for a free slot. */
  readonly isWanted: () => boolean;
}

/**
 * Timeouts of a delete in milliseconds: including its wait for a free slot, and from sending to the response. The first is long, because a thousand deletes of
 * a second each are no failure.
 */
const timeoutMs = 600_000;
const sentTimeoutMs = 10_000;

/** Deletes the pod if it is still in the state that the watch has shown. Never rejects. */
export const act = async ({ client, dryRun }: WeederActDeps, request: DeleteRequest): Promise<DeleteOutcome> => {
  if (dryRun) return { kind: 'deleted' };
  const { pod, signal, isWanted } = request;
  const tooLate = new ApiError({ code: 'Rejected', message: `DELETE of pod ${pod.name}: not sent: no longer wanted` });
  const beforeSend = (): void => {
    if (!isWanted()) throw tooLate;
  };
  const options = { signal, timeoutMs, sentTimeoutMs, priority: 'urgent', noRetry: true, beforeSend } as const;
  try {
    await client.call(deletePod(pod), options);
    return { kind: 'deleted' };
  } catch (error) {
    if (error === tooLate || (signal.aborted && !(error instanceof ApiError))) return { kind: 'unsent' };
    if (!(error instanceof ApiError)) return { kind: 'failed', error };
    if (error.code === 'NotFound') return { kind: 'gone' };
    return { kind: error.code === 'Conflict' ? 'changed' : 'failed', error };
  }
};
