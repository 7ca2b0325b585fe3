import type { ApiError } from '../../kubernetes/api/errors.ts';
import type { PodView } from '../../kubernetes/api/pod.ts';

/** The end of one delete. */
export type DeleteOutcome =
  | { readonly kind: 'deleted' }
  /** 404: the pod no longer exists. */
  | { readonly kind: 'gone' }
  /** 409: the pod was replaced, or has changed since the watch showed it. */
  | { readonly kind: 'changed'; readonly error: ApiError }
  /** The weeding ended before the request was sent. */
  | { readonly kind: 'unsent' }
  /** `mayHaveTakenEffect`: the response is lost, so the pod may be deleted all the same. */
  | { readonly kind: 'failed'; readonly retryAfterMs: number; readonly mayHaveTakenEffect: boolean };

/** The latest delete of one pod. Times are monotonic milliseconds. */
export type Attempt =
  /** The pod must not be deleted, and that has been reported. */
  | { readonly kind: 'left-alone' }
  | { readonly kind: 'in-flight'; readonly failures: number }
  /** The delete was accepted or the pod was gone: the watch will show its end. */
  | { readonly kind: 'done' }
  /** 409: the API server has another version of the pod than `resourceVersion`, the latest that we knew at `at`. */
  | {
      readonly kind: 'conflict';
      readonly resourceVersion: string;
      readonly at: number;
      readonly failures: number;
      readonly error: ApiError;
    }
  | { readonly kind: 'failed'; readonly failures: number; readonly retryAt: number };

/** Latest deletes by UID of the pod. */
export type Attempts = ReadonlyMap<string, Attempt>;

/** Time within which the watch must show the change behind a 409, in milliseconds. */
const changeShowsMs = 1_000;

/** Returns the time at which the pod may be deleted, judged by its latest delete. */
export const deletableAt = (attempt: Attempt | undefined, { resourceVersion }: PodView): number => {
  switch (attempt?.kind) {
    case undefined:
    case 'left-alone':
      return Number.NEGATIVE_INFINITY;
    case 'failed':
      return attempt.retryAt;
    case 'conflict':
      return attempt.resourceVersion === resourceVersion ? attempt.at + changeShowsMs : Number.NEGATIVE_INFINITY;
    case 'in-flight':
    case 'done':
      return Number.POSITIVE_INFINITY;
  }
};

/** Returns the number of consecutive failed deletes, including the latest. */
export const failuresOf = (attempt: Attempt | undefined): number =>
  attempt?.kind === 'failed' || attempt?.kind === 'in-flight' ? attempt.failures : 0;

const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** Maximum number of doublings; more of them exceed the longest back-off. */
const mostDoublings = 5;

/** Returns the attempt that failed at `at`, after `failures` consecutive failures before it. */
export const backOff = (failures: number, at: number, retryAfterMs: number): Attempt => {
  const backoffMs = Math.min(firstBackoffMs * 2 ** Math.min(failures, mostDoublings), longestBackoffMs);
  return { kind: 'failed', failures: failures + 1, retryAt: at + Math.max(backoffMs, retryAfterMs) };
};
