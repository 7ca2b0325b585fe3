import type { ApiError, PodView } from '../../domain/index.ts';
import { beginRound, forgetAt, nextRoundAt, type OwnerMemory, recordDelete } from './owners.ts';

/** A pod that the selectors of some service under way match. */
export interface SeenPod {
  readonly pod: PodView;
  /** Services that became ready, on which it depends. */
  readonly services: readonly string[];
}

/** What became of the latest delete of one pod. Times are monotonic milliseconds. */
export type Attempt =
  | { readonly kind: 'under-way'; readonly failures: number }
  /** Accepted, or the pod was gone: its end comes by the watch. */
  | { readonly kind: 'done' }
  /** The API server says (409) that the pod is no longer in this version, which was the latest that we knew at `at`. */
  | {
      readonly kind: 'outdated';
      readonly resourceVersion: string;
      readonly at: number;
      readonly failures: number;
      readonly error: ApiError;
    }
  | { readonly kind: 'failed'; readonly failures: number; readonly retryAt: number };

/** What lasts from look to look at one namespace. */
export interface NamespaceMemory {
  /** By UID of the controller owner. */
  readonly owners: ReadonlyMap<string, OwnerMemory>;
  /** By UID of the pod. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** UIDs of pods without a controller owner that have been told. */
  readonly left: ReadonlySet<string>;
}

export const emptyNamespaceMemory: NamespaceMemory = { owners: new Map(), attempts: new Map(), left: new Set() };

export interface Decision {
  readonly deletions: readonly SeenPod[];
  /** Crash-looping pods that are left alone, because nobody would bring them back; each once. */
  readonly leftAlone: readonly SeenPod[];
  /** Deletes that ended in a 409 though the pod has not changed: a webhook or a proxy refuses them for reasons of its own. */
  readonly refused: readonly { readonly seen: SeenPod; readonly error: ApiError }[];
  /** Monotonic instant of the next look if nothing happens before; Infinity: none. */
  readonly nextLookAt: number;
  readonly memory: NamespaceMemory;
}

/** So long a watch may take to show the change that made a delete end in a 409, in milliseconds. */
const changeShowsMs = 1_000;

/** Which of the pods to delete now. Pure; what it asks for counts as under way from then on. */
export const decide = (pods: readonly SeenPod[], memory: NamespaceMemory, now: number): Decision => {
  const owners = new Map(memory.owners);
  const attempts = new Map(memory.attempts);
  const deletions: SeenPod[] = [];
  const refused: Decision['refused'][number][] = [];
  let nextLookAt = Number.POSITIVE_INFINITY;
  const bad = pods.filter(({ pod }) => pod.crashLooping.length > 0 && !pod.deleting);

  /** When this pod may be deleted, by what became of the delete before. */
  const attemptAt = ({ uid, resourceVersion }: PodView): number => {
    const attempt = attempts.get(uid);
    switch (attempt?.kind) {
      case undefined:
        return now;
      case 'failed':
        return attempt.retryAt;
      case 'outdated':
        return attempt.resourceVersion === resourceVersion ? attempt.at + changeShowsMs : now;
      case 'under-way':
      case 'done':
        return Number.POSITIVE_INFINITY;
    }
  };

  for (const seen of bad) {
    const { pod } = seen;
    if (pod.controller === undefined) continue;
    const attempt = attempts.get(pod.uid);
    if (attempt?.kind === 'outdated' && attempt.resourceVersion === pod.resourceVersion && attemptAt(pod) <= now) {
      refused.push({ seen, error: attempt.error });
      attempts.set(pod.uid, failedAgain(attempt.failures, attempt.at, 0));
    }
    const { uid } = pod.controller;
    const owner = owners.get(uid);
    const isMember = owner?.members.has(pod.uid) === true;
    const at = Math.max(attemptAt(pod), owner === undefined || isMember ? now : roundAt(owner, memory));
    if (at > now) {
      nextLookAt = Math.min(nextLookAt, at);
      continue;
    }
    if (!isMember) owners.set(uid, beginRound(owner, uidsOf(pods, uid)));
    attempts.set(pod.uid, { kind: 'under-way', failures: failuresOf(attempts.get(pod.uid)) });
    deletions.push(seen);
  }
  const unowned = bad.filter(({ pod }) => pod.controller === undefined);
  return {
    deletions,
    leftAlone: unowned.filter(({ pod }) => !memory.left.has(pod.uid)),
    refused,
    nextLookAt,
    memory: prune(
      { owners, attempts, left: new Set([...memory.left, ...unowned.map(({ pod }) => pod.uid)]) },
      pods,
      now,
    ),
  };
};

/** A delete whose answer is awaited may have landed: the pod that is in its place already is not of the same round. */
const isAwaited = ({ members }: OwnerMemory, attempts: NamespaceMemory['attempts']): boolean =>
  [...members].some((uid) => attempts.get(uid)?.kind === 'under-way');

/** When the owner's next round may begin; Infinity: not before an answer comes. */
const roundAt = (owner: OwnerMemory, { attempts }: NamespaceMemory): number =>
  isAwaited(owner, attempts) ? Number.POSITIVE_INFINITY : nextRoundAt(owner);

const failuresOf = (attempt: Attempt | undefined): number =>
  attempt?.kind === 'failed' || attempt?.kind === 'under-way' ? attempt.failures : 0;

const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** Further doublings change nothing. */
const mostDoublings = 5;

/** The attempt after one that failed at `at`, `before` others having failed already. */
const failedAgain = (before: number, at: number, retryAfterMs: number): Attempt => {
  const backoffMs = Math.min(firstBackoffMs * 2 ** Math.min(before, mostDoublings), longestBackoffMs);
  return { kind: 'failed', failures: before + 1, retryAt: at + Math.max(backoffMs, retryAfterMs) };
};

const uidsOf = (pods: readonly SeenPod[], owner: string): readonly string[] =>
  pods.filter(({ pod }) => pod.controller?.uid === owner).map(({ pod }) => pod.uid);

/** Forgets pods that are gone, and owners of whose pods none was deleted for long. */
const prune = (memory: NamespaceMemory, pods: readonly SeenPod[], now: number): NamespaceMemory => {
  const present = new Set(pods.map(({ pod }) => pod.uid));
  const busy = new Set(pods.map(({ pod }) => pod.controller?.uid));
  const isOf = (owner: OwnerMemory, uid: string): boolean =>
    isAwaited(owner, memory.attempts) || (owner.rounds > 0 ? now < forgetAt(owner) : busy.has(uid));
  /** Its pod may be out of sight only, while a watch of it opens. */
  const isPending = (attempt: Attempt): boolean =>
    attempt.kind === 'under-way' || (attempt.kind === 'failed' && now < attempt.retryAt);
  return {
    left: new Set([...memory.left].filter((uid) => present.has(uid))),
    owners: new Map([...memory.owners].filter(([uid, owner]) => isOf(owner, uid))),
    attempts: new Map([...memory.attempts].filter(([uid, attempt]) => present.has(uid) || isPending(attempt))),
  };
};

/** How one delete ended. */
export type Outcome =
  | { readonly kind: 'deleted' }
  /** It was gone already. */
  | { readonly kind: 'gone' }
  /** It was replaced, or has changed since it was seen; `error` says so. */
  | { readonly kind: 'changed'; readonly error: ApiError }
  /** No longer wanted before it was sent. */
  | { readonly kind: 'unsent' }
  /** `mayHaveLanded`: nobody knows whether the pod is on its way out. */
  | { readonly kind: 'failed'; readonly retryAfterMs: number; readonly mayHaveLanded: boolean };

/** Takes in how the delete of `pod` ended. Pure. */
export const recordOutcome = (
  memory: NamespaceMemory,
  { pod, outcome }: { readonly pod: PodView; readonly outcome: Outcome },
  now: number,
): NamespaceMemory => {
  const attempts = new Map(memory.attempts);
  switch (outcome.kind) {
    case 'deleted':
      attempts.set(pod.uid, { kind: 'done' });
      return { ...memory, attempts, owners: withDelete(memory.owners, pod, now) };
    case 'gone':
      attempts.set(pod.uid, { kind: 'done' });
      return { ...memory, attempts };
    case 'changed': {
      const { error } = outcome;
      const failures = failuresOf(attempts.get(pod.uid));
      attempts.set(pod.uid, { kind: 'outdated', resourceVersion: pod.resourceVersion, at: now, failures, error });
      return { ...memory, attempts };
    }
    case 'unsent':
      attempts.delete(pod.uid);
      return { ...memory, attempts };
    case 'failed': {
      attempts.set(pod.uid, failedAgain(failuresOf(attempts.get(pod.uid)), now, outcome.retryAfterMs));
      // Else an API server whose answers are lost would have the pod in its place deleted without any wait, again and again.
      return {
        ...memory,
        attempts,
        owners: outcome.mayHaveLanded ? withDelete(memory.owners, pod, now) : memory.owners,
      };
    }
  }
};

const withDelete = (
  owners: ReadonlyMap<string, OwnerMemory>,
  { uid, controller }: PodView,
  now: number,
): ReadonlyMap<string, OwnerMemory> => {
  if (controller === undefined) return owners;
  const owner = owners.get(controller.uid) ?? beginRound(undefined, [uid]);
  return new Map(owners).set(controller.uid, recordDelete(owner, now));
};
