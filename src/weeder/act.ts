import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type PodView, deletePod } from '../kubernetes/api/pod.ts';
import type { DeleteOutcome } from './events.ts';

export interface WeederActDeps {
  /** Client that refuses a write right before it is sent if this process does not lead. */
  readonly client: KubeClient;
  /** True if nothing is written: a delete then succeeds at once. */
  readonly dryRun: boolean;
  /** Cancels all deletes that are not sent yet. If one is sent, its response is awaited. */
  readonly signal: AbortSignal;
}

/**
 * Timeouts of a delete in milliseconds: including its wait for a free slot, and from sending to the response. The first is long, because a thousand deletes of
 * a second each are no failure.
 */
const timeoutMs = 600_000;
const sentTimeoutMs = 10_000;

/**
 * Deletes the pod if it is still in the state that the watch has shown. `isWanted` is called right before the delete is sent: its weeding may have ended while
 * it waited for a free slot. Never rejects.
 */
export const act = async (
  { client, dryRun, signal }: WeederActDeps,
  pod: PodView,
  isWanted: () => boolean,
): Promise<DeleteOutcome> => {
  if (dryRun) return { kind: 'deleted' };
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
