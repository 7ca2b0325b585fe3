import type { ApiError } from '../../kubernetes/api/errors.ts';
import type { PodView } from '../../kubernetes/api/pod.ts';

/** How one delete ended. */
export type DeleteOutcome =
  | { readonly kind: 'deleted' }
  /** It did not exist any more. */
  | { readonly kind: 'gone' }
  /** 409: it was replaced, or has changed since the watch showed it. */
  | { readonly kind: 'changed'; readonly error: ApiError }
  /** The weeding ended before the request was sent. */
  | { readonly kind: 'unsent' }
  /** `mayHaveLanded`: the answer is lost, so the pod may be deleted all the same. */
  | { readonly kind: 'failed'; readonly retryAfterMs: number; readonly mayHaveLanded: boolean };

/** The latest delete of one pod. Times are monotonic milliseconds. */
export type Attempt =
  | { readonly kind: 'in-flight'; readonly failures: number }
  /** Accepted, or the pod was gone: the watch will show its end. */
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

/** By UID of the pod. */
export type Attempts = ReadonlyMap<string, Attempt>;

/** How long the watch may take to show the change behind a 409, in milliseconds. */
const changeShowsMs = 1_000;

/** When the pod may be deleted, going by its latest delete. */
export const retryAt = (attempt: Attempt | undefined, { resourceVersion }: PodView): number => {
  switch (attempt?.kind) {
    case undefined:
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

/** Deletes that failed one after the other, the latest included. */
export const failuresOf = (attempt: Attempt | undefined): number =>
  attempt?.kind === 'failed' || attempt?.kind === 'in-flight' ? attempt.failures : 0;

const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** More doublings exceed the longest back-off. */
const mostDoublings = 5;

/** The attempt after one that failed at `at`; `failures` others failed before it. */
export const failedAgain = (failures: number, at: number, retryAfterMs: number): Attempt => {
  const backoffMs = Math.min(firstBackoffMs * 2 ** Math.min(failures, mostDoublings), longestBackoffMs);
  return { kind: 'failed', failures: failures + 1, retryAt: at + Math.max(backoffMs, retryAfterMs) };
};
