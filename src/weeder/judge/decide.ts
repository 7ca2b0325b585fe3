import type { ApiError } from '../../kubernetes/api/errors.ts';
import type { PodView } from '../../kubernetes/api/pod.ts';
import { type OwnerBackoff, beginBatch, nextBatchAt, recordDelete, resetAt } from './owners.ts';

/** A pod that matches the selectors of a service whose weeding runs. */
export interface DependentPod {
  readonly pod: PodView;
  /** Names of those services. */
  readonly services: readonly string[];
}

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

type Attempts = ReadonlyMap<string, Attempt>;

/** What the weeder keeps of one namespace from one decision to the next. */
export interface NamespaceState {
  /** By UID of the controller owner. */
  readonly owners: ReadonlyMap<string, OwnerBackoff>;
  /** By UID of the pod. */
  readonly attempts: Attempts;
  /** UIDs of the pods without a controller owner that were reported. */
  readonly reportedOrphans: ReadonlySet<string>;
}

export const emptyNamespaceState: NamespaceState = {
  owners: new Map(),
  attempts: new Map(),
  reportedOrphans: new Set(),
};

export interface DecideInput {
  readonly state: NamespaceState;
  /** Monotonic milliseconds. */
  readonly now: number;
}

export interface Decision {
  readonly deletions: readonly DependentPod[];
  /** Crash-looping pods without a controller owner, each reported once: they stay, because nothing would recreate them. */
  readonly orphans: readonly DependentPod[];
  /** Deletes that ended in a 409 although the pod has not changed: a webhook or proxy refused them. */
  readonly refused: readonly Refusal[];
  /** Monotonic instant of the next decision if nothing changes before. Infinity: none is due. */
  readonly nextDecisionAt: number;
  readonly state: NamespaceState;
}

interface Refusal {
  readonly dependent: DependentPod;
  readonly error: ApiError;
}

/** How long the watch may take to show the change behind a 409, in milliseconds. */
const changeShowsMs = 1_000;

/** Which pods to delete now. Pure; `state` of the result counts these deletes as in flight. */
export const decide = (pods: readonly DependentPod[], { state, now }: DecideInput): Decision => {
  const crashLooping = pods.filter(({ pod }) => pod.crashLooping.length > 0 && !pod.deleting);
  const { refused, attempts: known } = findRefused(crashLooping, { state, now });
  const { deletions, owners, attempts, nextDecisionAt } = chooseDeletions(crashLooping, { pods, state, known, now });
  const orphans = crashLooping.filter(({ pod }) => pod.controller === undefined);
  const reportedOrphans = new Set([...state.reportedOrphans, ...orphans.map(({ pod }) => pod.uid)]);
  return {
    deletions,
    orphans: orphans.filter(({ pod }) => !state.reportedOrphans.has(pod.uid)),
    refused,
    nextDecisionAt,
    state: prune({ owners, attempts, reportedOrphans }, pods, now),
  };
};

/** When the pod may be deleted, going by its latest delete. */
const retryAt = (attempt: Attempt | undefined, { resourceVersion }: PodView): number => {
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

/** A conflict counts as a refusal once the watch has had time to show another version and has not. */
const findRefused = (
  dependents: readonly DependentPod[],
  { state, now }: DecideInput,
): { readonly refused: readonly Refusal[]; readonly attempts: Attempts } => {
  const attempts = new Map(state.attempts);
  const refused = dependents.flatMap((dependent): readonly Refusal[] => {
    const { pod } = dependent;
    const attempt = attempts.get(pod.uid);
    if (pod.controller === undefined || attempt?.kind !== 'conflict') return [];
    if (attempt.resourceVersion !== pod.resourceVersion || retryAt(attempt, pod) > now) return [];
    attempts.set(pod.uid, failedAgain(attempt.failures, attempt.at, 0));
    return [{ dependent, error: attempt.error }];
  });
  return { refused, attempts };
};

interface Candidates {
  readonly pods: readonly DependentPod[];
  readonly state: NamespaceState;
  /** Attempts with the refused ones among them. */
  readonly known: Attempts;
  readonly now: number;
}

const chooseDeletions = (
  crashLooping: readonly DependentPod[],
  { pods, state, known, now }: Candidates,
): Pick<Decision, 'deletions' | 'nextDecisionAt'> & Pick<NamespaceState, 'owners' | 'attempts'> => {
  const owners = new Map(state.owners);
  const attempts = new Map(known);
  const deletions: DependentPod[] = [];
  let nextDecisionAt = Number.POSITIVE_INFINITY;
  for (const dependent of crashLooping) {
    const { pod } = dependent;
    if (pod.controller === undefined) continue;
    const { uid } = pod.controller;
    const owner = owners.get(uid);
    const isInBatch = owner?.batch.has(pod.uid) === true;
    const ownersTurn = owner === undefined || isInBatch ? Number.NEGATIVE_INFINITY : batchAt(owner, state.attempts);
    const at = Math.max(retryAt(attempts.get(pod.uid), pod), ownersTurn);
    if (at > now) {
      nextDecisionAt = Math.min(nextDecisionAt, at);
      continue;
    }
    if (!isInBatch) owners.set(uid, beginBatch(owner, uidsOf(pods, uid)));
    attempts.set(pod.uid, { kind: 'in-flight', failures: failuresOf(attempts.get(pod.uid)) });
    deletions.push(dependent);
  }
  return { deletions, owners, attempts, nextDecisionAt };
};

/** A delete in flight may have taken effect: then the pod that replaced it already belongs to the next batch. */
const hasDeleteInFlight = ({ batch }: OwnerBackoff, attempts: Attempts): boolean =>
  [...batch].some((uid) => attempts.get(uid)?.kind === 'in-flight');

/** When the owner's next batch may begin. Infinity: an answer must come first. */
const batchAt = (owner: OwnerBackoff, attempts: Attempts): number =>
  hasDeleteInFlight(owner, attempts) ? Number.POSITIVE_INFINITY : nextBatchAt(owner);

const failuresOf = (attempt: Attempt | undefined): number =>
  attempt?.kind === 'failed' || attempt?.kind === 'in-flight' ? attempt.failures : 0;

const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** More doublings exceed the longest back-off. */
const mostDoublings = 5;

/** The attempt after one that failed at `at`; `failures` others failed before it. */
const failedAgain = (failures: number, at: number, retryAfterMs: number): Attempt => {
  const backoffMs = Math.min(firstBackoffMs * 2 ** Math.min(failures, mostDoublings), longestBackoffMs);
  return { kind: 'failed', failures: failures + 1, retryAt: at + Math.max(backoffMs, retryAfterMs) };
};

const uidsOf = (pods: readonly DependentPod[], owner: string): readonly string[] =>
  pods.filter(({ pod }) => pod.controller?.uid === owner).map(({ pod }) => pod.uid);

/** Drops pods that are gone, and owners whose back-off is reset. */
const prune = (state: NamespaceState, pods: readonly DependentPod[], now: number): NamespaceState => {
  const present = new Set(pods.map(({ pod }) => pod.uid));
  const presentOwners = new Set(pods.map(({ pod }) => pod.controller?.uid));
  const isOwnerNeeded = (owner: OwnerBackoff, uid: string): boolean =>
    hasDeleteInFlight(owner, state.attempts) || (owner.batches > 0 ? now < resetAt(owner) : presentOwners.has(uid));
  /** The pod may be missing only because a watch is being opened. */
  const isPending = (attempt: Attempt): boolean =>
    attempt.kind === 'in-flight' || (attempt.kind === 'failed' && now < attempt.retryAt);
  return {
    reportedOrphans: new Set([...state.reportedOrphans].filter((uid) => present.has(uid))),
    owners: new Map([...state.owners].filter(([uid, owner]) => isOwnerNeeded(owner, uid))),
    attempts: new Map([...state.attempts].filter(([uid, attempt]) => present.has(uid) || isPending(attempt))),
  };
};

/** How one delete ended. */
export type Outcome =
  | { readonly kind: 'deleted' }
  /** It did not exist any more. */
  | { readonly kind: 'gone' }
  /** 409: it was replaced, or has changed since the watch showed it. */
  | { readonly kind: 'changed'; readonly error: ApiError }
  /** The weeding ended before the request was sent. */
  | { readonly kind: 'unsent' }
  /** `mayHaveLanded`: the answer is lost, so the pod may be deleted all the same. */
  | { readonly kind: 'failed'; readonly retryAfterMs: number; readonly mayHaveLanded: boolean };

/** `state` after the delete of `pod` ended in `outcome`. Pure. */
export const recordOutcome = (
  state: NamespaceState,
  { pod, outcome }: { readonly pod: PodView; readonly outcome: Outcome },
  now: number,
): NamespaceState => {
  const { uid, resourceVersion } = pod;
  const failures = failuresOf(state.attempts.get(uid));
  const after = (attempt: Attempt, owners = state.owners): NamespaceState => ({
    ...state,
    owners,
    attempts: new Map(state.attempts).set(uid, attempt),
  });
  switch (outcome.kind) {
    case 'deleted':
      return after({ kind: 'done' }, withDelete(state.owners, pod, now));
    case 'gone':
      return after({ kind: 'done' });
    case 'changed':
      return after({ kind: 'conflict', resourceVersion, at: now, failures, error: outcome.error });
    case 'unsent':
      return { ...state, attempts: new Map([...state.attempts].filter(([other]) => other !== uid)) };
    case 'failed': {
      const { retryAfterMs, mayHaveLanded } = outcome;
      // While answers are lost, the pod that replaces a deleted one must wait for its batch all the same.
      const owners = mayHaveLanded ? withDelete(state.owners, pod, now) : state.owners;
      return after(failedAgain(failures, now, retryAfterMs), owners);
    }
  }
};

const withDelete = (
  owners: NamespaceState['owners'],
  { uid, controller }: PodView,
  now: number,
): NamespaceState['owners'] => {
  if (controller === undefined) return owners;
  const owner = owners.get(controller.uid) ?? beginBatch(undefined, [uid]);
  return new Map(owners).set(controller.uid, recordDelete(owner, now));
};
