import type { ApiError } from '../../kubernetes/api/errors.ts';
import type { PodView } from '../../kubernetes/api/pod.ts';
import { type Attempt, type Attempts, backOff, failuresOf, deletableAt } from './attempts.ts';
import type { NamespaceState } from './namespace-state.ts';
import { beginBatch, nextBatchAt, type OwnerBackoff, resetAt } from './owner-backoff.ts';

/** A pod that matches a selector of a service with a running weeding. */
export interface DependentPod {
  readonly pod: PodView;
  /** Names of the services whose selectors the pod matches. */
  readonly services: readonly string[];
}

export interface WeederDecideInput {
  readonly state: NamespaceState;
  /** Monotonic milliseconds. */
  readonly now: number;
}

export interface WeedingDecision {
  readonly deletions: readonly DependentPod[];
  /** Crash-looping pods without a controller owner, each reported once. They are not deleted, because nothing would recreate them. */
  readonly barePods: readonly DependentPod[];
  /** Deletes with a 409 although the pod has not changed: a webhook or proxy refused them. */
  readonly refused: readonly Refusal[];
  /** Time of the next decision if nothing changes before, in monotonic milliseconds. Infinity if none is due. */
  readonly nextDecisionAt: number;
  readonly state: NamespaceState;
}

interface Refusal {
  readonly dependent: DependentPod;
  readonly error: ApiError;
}

/** Decides which pods to delete now. Pure; `state` of the result has these deletes as in flight. */
export const decide = (pods: readonly DependentPod[], { state, now }: WeederDecideInput): WeedingDecision => {
  const crashLooping = pods.filter(({ pod }) => pod.crashLooping.length > 0 && !pod.deleting);
  const { refused, attempts: known } = findRefused(crashLooping, { state, now });
  const { deletions, owners, attempts, nextDecisionAt } = chooseDeletions(crashLooping, { pods, state, known, now });
  const orphans = crashLooping.filter(({ pod }) => pod.controller === undefined);
  const reportedBarePods = new Set([...state.reportedBarePods, ...orphans.map(({ pod }) => pod.uid)]);
  return {
    deletions,
    barePods: orphans.filter(({ pod }) => !state.reportedBarePods.has(pod.uid)),
    refused,
    nextDecisionAt,
    state: prune({ owners, attempts, reportedBarePods }, pods, now),
  };
};

/** Turns conflicts into refusals if the watch had time to show another version of the pod and did not. */
const findRefused = (
  dependents: readonly DependentPod[],
  { state, now }: WeederDecideInput,
): { readonly refused: readonly Refusal[]; readonly attempts: Attempts } => {
  const attempts = new Map(state.attempts);
  const refused = dependents.flatMap((dependent): readonly Refusal[] => {
    const { pod } = dependent;
    const attempt = attempts.get(pod.uid);
    if (pod.controller === undefined || attempt?.kind !== 'conflict') return [];
    if (attempt.resourceVersion !== pod.resourceVersion || deletableAt(attempt, pod) > now) return [];
    attempts.set(pod.uid, backOff(attempt.failures, attempt.at, 0));
    return [{ dependent, error: attempt.error }];
  });
  return { refused, attempts };
};

interface DeletionInput {
  readonly pods: readonly DependentPod[];
  readonly state: NamespaceState;
  /** Attempts, in which refused deletes are marked as failed. */
  readonly known: Attempts;
  readonly now: number;
}

const chooseDeletions = (
  crashLooping: readonly DependentPod[],
  { pods, state, known, now }: DeletionInput,
): Pick<WeedingDecision, 'deletions' | 'nextDecisionAt'> & Pick<NamespaceState, 'owners' | 'attempts'> => {
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
    const ownerReadyAt = owner === undefined || isInBatch ? Number.NEGATIVE_INFINITY : batchAt(owner, state.attempts);
    const at = Math.max(deletableAt(attempts.get(pod.uid), pod), ownerReadyAt);
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

/** True if a delete of the batch is in flight. It may have taken effect, and then the pod that replaces the deleted one belongs to the next batch. */
const hasDeleteInFlight = ({ batch }: OwnerBackoff, attempts: Attempts): boolean =>
  [...batch].some((uid) => attempts.get(uid)?.kind === 'in-flight');

/** Returns the time at which the owner's next batch may start. Infinity if a response must arrive first. */
const batchAt = (owner: OwnerBackoff, attempts: Attempts): number =>
  hasDeleteInFlight(owner, attempts) ? Number.POSITIVE_INFINITY : nextBatchAt(owner);

const uidsOf = (pods: readonly DependentPod[], owner: string): readonly string[] =>
  pods.filter(({ pod }) => pod.controller?.uid === owner).map(({ pod }) => pod.uid);

/** Drops the state of pods that are gone and of owners whose back-off is reset. */
const prune = (state: NamespaceState, pods: readonly DependentPod[], now: number): NamespaceState => {
  const present = new Set(pods.map(({ pod }) => pod.uid));
  const presentOwners = new Set(pods.map(({ pod }) => pod.controller?.uid));
  const isOwnerNeeded = (owner: OwnerBackoff, uid: string): boolean =>
    hasDeleteInFlight(owner, state.attempts) || (owner.batches > 0 ? now < resetAt(owner) : presentOwners.has(uid));
  /** True if the attempt is kept without its pod, which may be missing only because a watch is being opened. */
  const isPending = (attempt: Attempt): boolean =>
    attempt.kind === 'in-flight' || (attempt.kind === 'failed' && now < attempt.retryAt);
  return {
    reportedBarePods: new Set([...state.reportedBarePods].filter((uid) => present.has(uid))),
    owners: new Map([...state.owners].filter(([uid, owner]) => isOwnerNeeded(owner, uid))),
    attempts: new Map([...state.attempts].filter(([uid, attempt]) => present.has(uid) || isPending(attempt))),
  };
};
