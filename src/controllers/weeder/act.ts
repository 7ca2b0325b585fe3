import { ApiError, deletePod, type PodView } from '../../domain/index.ts';
import type { KubeClient } from '../../ports/index.ts';
import type { Outcome } from './decide.ts';

export interface ActDeps {
  /** Refuses writes of a process that does not lead, at the moment they would leave. */
  readonly client: KubeClient;
  /** Nothing is written: a would-be delete counts as done at once. */
  readonly dryRun: boolean;
}

/** How a delete ended, and what went wrong where something did. */
export interface DeleteResult {
  readonly outcome: Outcome;
  readonly error?: ApiError;
}

/**
 * Of a delete, its wait for its turn included, and of the answer once it has left. A thousand deletes that take a second each are no failure, and
 * the end of the weeding ends the wait.
 */
const timeoutMs = 600_000;
const sentTimeoutMs = 10_000;

export interface DeleteOptions {
  readonly pod: PodView;
  /** Ends a delete that has not left yet; one that has is awaited. */
  readonly signal: AbortSignal;
  /** Asked right before the delete leaves: whether it is still wanted. A process that stood still finds out only now. */
  readonly isWanted: () => boolean;
}

/** Deletes the pod as it was seen. Never rejects with an ApiError; anything else is a bug. */
export const act = async (
  { client, dryRun }: ActDeps,
  { pod, signal, isWanted }: DeleteOptions,
): Promise<DeleteResult> => {
  if (dryRun) return { outcome: { kind: 'deleted' } };
  const tooLate = new ApiError({ code: 'Rejected', message: `DELETE of pod ${pod.name}: not sent: no longer wanted` });
  const beforeSend = (): void => {
    if (!isWanted()) throw tooLate;
  };
  try {
    await client.call(deletePod(pod), { signal, timeoutMs, sentTimeoutMs, lane: 'urgent', once: true, beforeSend });
    return { outcome: { kind: 'deleted' } };
  } catch (error) {
    if (error === tooLate) return { outcome: { kind: 'unsent' } };
    if (error instanceof ApiError) return failure(error);
    if (signal.aborted) return { outcome: { kind: 'unsent' } };
    throw error;
  }
};

/** The API server did not refuse it, and its answer is lost or says nothing. */
const mayHaveLanded = ({ handling, heldBack }: ApiError): boolean => handling === 'retry' && !heldBack;

const failure = (error: ApiError): DeleteResult => {
  switch (error.code) {
    case 'NotFound':
      return { outcome: { kind: 'gone' } };
    case 'Conflict':
      return { outcome: { kind: 'changed', error } };
    case 'BadRequest':
    case 'Unauthorized':
    case 'Forbidden':
    case 'MethodNotAllowed':
    case 'AlreadyExists':
    case 'Expired':
    case 'Invalid':
    case 'TooManyRequests':
    case 'Timeout':
    case 'ServerError':
    case 'ConnectionError':
    case 'MalformedResponse':
    case 'Rejected':
      return {
        outcome: { kind: 'failed', retryAfterMs: error.retryAfterMs ?? 0, mayHaveLanded: mayHaveLanded(error) },
        error,
      };
  }
};
