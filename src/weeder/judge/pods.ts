import { ApiError } from '../../kubernetes/api/errors.ts';
import type { PodView } from '../../kubernetes/api/pod.ts';
import type { DeleteOutcome, DependentPod, WeederEvent } from '../events.ts';

/** Deletes of one pod. Times are monotonic milliseconds. */
interface Attempt {
  /** True while the response to a delete is awaited. */
  readonly awaited: boolean;
  /** Time from which the pod may be deleted. Infinity while a response is awaited, and once the pod is deleted: the watch will show its end. */
  readonly at: number;
  /** Number of consecutive failures. */
  readonly failures: number;
  /** Set after a 409: the state of the pod that we knew. In another one it may be deleted at once. */
  readonly conflict?: { readonly resourceVersion: string; readonly error: ApiError };
}

/**
 * Deletes of the pods of one controller owner. They are deleted in batches: a batch consists of all the owner's pods that exist when it starts. Pods that the
 * owner creates in their place belong to the next batch, which has to wait, so that the weeder does not become the crash loop.
 */
export interface Owner {
  /** The current batch, by UID of the pod. */
  readonly batch: ReadonlyMap<string, Attempt>;
  /** Wait after the last delete of the current batch. */
  readonly waitMs: number;
  /** End of that wait; minus infinity until a pod of the batch was deleted. */
  readonly nextBatchAt: number;
  /** Time at which the back-off is reset. */
  readonly resetAt: number;
}

/** Owners by UID. */
export type Owners = ReadonlyMap<string, Owner>;

const firstWaitMs = 10_000;
const longestWaitMs = 80_000;
/** As in the kubelet (k8s.io/kubernetes/pkg/kubelet, 2 * MaxContainerBackOff). */
const resetAfterMs = 600_000;
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

const untried: Attempt = { awaited: false, at: Number.NEGATIVE_INFINITY, failures: 0 };

const isAwaiting = ({ batch }: Owner): boolean => [...batch.values()].some(({ awaited }) => awaited);

/** True if the owner's back-off is reset. */
export const isForgotten = (owner: Owner, now: number): boolean => now >= owner.resetAt && !isAwaiting(owner);

const withAttempt = (owner: Owner, { uid }: PodView, attempt: Attempt): Owner => ({
  ...owner,
  batch: new Map(owner.batch).set(uid, attempt),
});

/** Returns the pod's deletes that count in its present state. */
const attemptOf = (owner: Owner, { uid, resourceVersion }: PodView): Attempt => {
  const attempt = owner.batch.get(uid) ?? untried;
  return attempt.conflict === undefined || attempt.conflict.resourceVersion === resourceVersion ? attempt : untried;
};

interface Seen {
  readonly pods: readonly DependentPod[];
  readonly now: number;
}

/** Returns the owner with the batch that the pod belongs to, and the time at which the pod may be deleted. */
const batchFor = (owner: Owner | undefined, pod: PodView, { pods, now }: Seen) => {
  if (owner?.batch.has(pod.uid) === true) return { owner, at: attemptOf(owner, pod).at };
  const { waitMs = firstWaitMs, nextBatchAt = Number.NEGATIVE_INFINITY } = owner ?? {};
  if (owner !== undefined && nextBatchAt > now) return { owner, at: nextBatchAt };
  // A delete that is awaited may have taken effect, and then this pod is its replacement.
  if (owner !== undefined && isAwaiting(owner)) return { owner, at: Number.POSITIVE_INFINITY };
  const begun: Owner = {
    // Pods of other owners in it change nothing.
    batch: new Map(pods.map(({ pod: { uid } }) => [uid, owner?.batch.get(uid) ?? untried])),
    waitMs: Number.isFinite(nextBatchAt) ? Math.min(2 * waitMs, longestWaitMs) : waitMs,
    nextBatchAt: Number.NEGATIVE_INFINITY,
    resetAt: now + resetAfterMs,
  };
  return { owner: begun, at: now };
};

/**
 * A mirror pod, which shows a static pod of the kubelet, is controlled by its Node (`mirror_client.go` in k8s.io/kubernetes/pkg/kubelet/pod). A Job counts a
 * pod that is being deleted as failed, unless it replaces failed pods only (`isPodFailed` in k8s.io/kubernetes/pkg/controller/job), and is failed for good after
 * `backoffLimit` of them.
 */
const whyLeftAlone = ({ controller }: PodView): string | undefined => {
  if (controller === undefined) return 'no controller owns the pod, so nobody would bring it back';
  const { apiVersion, kind } = controller;
  if (apiVersion === 'v1' && kind === 'Node') return 'the pod mirrors a static pod, which only its kubelet can restart';
  if (apiVersion !== 'batch/v1' || kind !== 'Job') return undefined;
  return 'the Job of the pod would count its deletion as a failure';
};

export interface PodsVerdict {
  readonly deletions: readonly DependentPod[];
  readonly events: readonly WeederEvent[];
  /** The owners, with these deletes as awaited. */
  readonly owners: Owners;
  /** Time of the next judgement if nothing changes before, in monotonic milliseconds. Infinity if none is due. */
  readonly nextAt: number;
}

/** Judges which pods to delete now. */
export const judgePods = (pods: readonly DependentPod[], known: Owners, now: number): PodsVerdict => {
  const owners = new Map([...known].filter(([, owner]) => !isForgotten(owner, now)));
  const deletions: DependentPod[] = [];
  const events: WeederEvent[] = [];
  let nextAt = Number.POSITIVE_INFINITY;
  for (const dependent of pods) {
    const { pod } = dependent;
    if (pod.crashLooping.length === 0 || pod.deleting) continue;
    const why = whyLeftAlone(pod);
    if (why !== undefined) events.push({ type: 'left-alone', ...dependent, why });
    if (why !== undefined || pod.controller === undefined) continue;
    const { uid } = pod.controller;
    const { owner, at } = batchFor(owners.get(uid), pod, { pods, now });
    if (at > now) {
      nextAt = Math.min(nextAt, at);
      continue;
    }
    const { failures, conflict } = attemptOf(owner, pod);
    // The watch had time to show another state of the pod and did not: a webhook or proxy refused the delete.
    if (conflict !== undefined) {
      events.push({ type: 'delete-ended', ...dependent, outcome: { kind: 'failed', error: conflict.error } });
    }
    owners.set(uid, withAttempt(owner, pod, { awaited: true, at: Number.POSITIVE_INFINITY, failures }));
    deletions.push(dependent);
  }
  return { deletions, events, owners, nextAt };
};

/** Returns the owners after the delete of `pod` ended. */
export const recordOutcome = (owners: Owners, pod: PodView, outcome: DeleteOutcome, now: number): Owners => {
  const uid = pod.controller?.uid ?? '';
  const owner = owners.get(uid);
  return owner === undefined ? owners : new Map(owners).set(uid, ownerAfter(owner, pod, outcome, now));
};

const ownerAfter = (owner: Owner, pod: PodView, outcome: DeleteOutcome, now: number): Owner => {
  const attempt = attemptOf(owner, pod);
  const done = withAttempt(owner, pod, { awaited: false, at: Number.POSITIVE_INFINITY, failures: 0 });
  const withDelete = { nextBatchAt: now + owner.waitMs, resetAt: now + resetAfterMs };
  switch (outcome.kind) {
    case 'deleted':
      return { ...done, ...withDelete };
    case 'gone':
      return done;
    case 'unsent':
      return withAttempt(owner, pod, untried);
    case 'changed': {
      const { resourceVersion } = pod;
      const conflict = { resourceVersion, error: outcome.error };
      return withAttempt(owner, pod, { ...failed(attempt, now, 0), conflict });
    }
    case 'failed': {
      const { retryAfterMs = 0, mayHaveTakenEffect } = factsOf(outcome.error);
      const after = withAttempt(owner, pod, failed(attempt, now, retryAfterMs));
      // Even if the response is lost, the pod that replaces a deleted one must wait for the next batch.
      return mayHaveTakenEffect ? { ...after, ...withDelete } : after;
    }
  }
};

const failed = ({ failures }: Attempt, now: number, retryAfterMs: number): Attempt => {
  const backoffMs = Math.min(firstRetryMs * 2 ** failures, longestRetryMs);
  return { awaited: false, at: now + Math.max(backoffMs, retryAfterMs), failures: failures + 1 };
};

/** `mayHaveTakenEffect`: the server did not refuse the delete, but its response is lost or unreadable. */
const factsOf = (error: unknown): { readonly retryAfterMs?: number; readonly mayHaveTakenEffect: boolean } => {
  if (!(error instanceof ApiError)) return { mayHaveTakenEffect: true };
  const { retryAfterMs, handling, rateLimited } = error;
  return { retryAfterMs, mayHaveTakenEffect: handling === 'retry' && !rateLimited };
};
