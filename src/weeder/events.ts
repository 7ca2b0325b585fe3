import type { ApiError } from '../kubernetes/api/errors.ts';
import type { PodView } from '../kubernetes/api/pod.ts';

/** The time after a service became ready, in which its crash-looping dependent pods are deleted. Times are monotonic milliseconds. */
export interface Weeding {
  readonly namespace: string;
  readonly service: string;
  readonly readyAt: number;
  readonly endsAt: number;
}

/** A pod that matches a selector of the weeding's service. */
export interface DependentPod {
  readonly pod: PodView;
  /** If several weedings match the pod, the one whose service became ready last. */
  readonly weeding: Weeding;
}

/** The end of one delete. */
export type DeleteOutcome =
  | { readonly kind: 'deleted' }
  /** 404: the pod no longer exists. */
  | { readonly kind: 'gone' }
  /** 409: the pod was replaced, or has changed since the watch showed it. */
  | { readonly kind: 'changed'; readonly error: ApiError }
  /** The weeding ended before the request was sent. */
  | { readonly kind: 'unsent' }
  /** An error that is no ApiError is a bug. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** What the weeder has done or seen. Log, metrics and Events are made of it. */
export type WeederEvent =
  | { readonly type: 'weeding-started'; readonly weeding: Weeding }
  | {
      readonly type: 'weeding-ended';
      readonly weeding: Weeding;
      readonly why: 'expired' | 'not-ready' | 'stopped';
    }
  | ({ readonly type: 'delete-ended'; readonly outcome: DeleteOutcome } & DependentPod)
  /** Emitted each time the pod is judged. `why`: why it must not be deleted, for people. */
  | ({ readonly type: 'left-alone'; readonly why: string } & DependentPod)
  /** An exception that no code handles. */
  | { readonly type: 'unexpected-error'; readonly namespace: string; readonly error: unknown };
