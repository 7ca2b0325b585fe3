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
  /** Crash-looping pods that must not be deleted, each reported once. */
  readonly leftAlone: readonly LeftAlone[];
  /** Deletes with a 409 although the pod has not changed: a webhook or proxy refused them. */
  readonly refused: readonly Refusal[];
  /** Time of the next decision if nothing changes before, in monotonic milliseconds. Infinity if none is due. */
  readonly nextDecisionAt: number;
  readonly state: NamespaceState;
}

/** Why a pod must not be deleted: nothing would recreate it, deleting it restarts nothing, or its Job would count the deletion as a failure. */
export type LeftAloneReason = 'no-controller' | 'mirror-pod' | 'pod-of-job';

interface LeftAlone {
  readonly dependent: DependentPod;
  readonly why: LeftAloneReason;
}

interface Refusal {
  readonly dependent: DependentPod;
  readonly error: ApiError;
}

/** Decides which pods to delete now. Pure; `state` of the result has these deletes as in flight. */
export const decide = (pods: readonly DependentPod[], { state, now }: WeederDecideInput): WeedingDecision => {
  const crashLooping = pods.filter(({ pod }) => pod.crashLooping.length > 0 && !pod.deleting);
  const leftAlone = crashLooping.flatMap((dependent): readonly LeftAlone[] => {
    const why = whyLeftAlone(dependent.pod);
    return why === undefined ? [] : [{ dependent, why }];
  });
  const deletable = crashLooping.filter(({ pod }) => whyLeftAlone(pod) === undefined);
  const { refused, attempts: known } = findRefused(deletable, { state, now });
  for (const { dependent } of leftAlone) known.set(dependent.pod.uid, { kind: 'left-alone' });
  const { deletions, owners, attempts, nextDecisionAt } = chooseDeletions(deletable, { pods, state, known, now });
  return {
    deletions,
    leftAlone: leftAlone.filter(({ dependent }) => state.attempts.get(dependent.pod.uid)?.kind !== 'left-alone'),
    refused,
    nextDecisionAt,
    state: prune({ owners, attempts }, pods, now),
  };
};

/**
 * A mirror pod, which shows a static pod of the kubelet, is controlled by its Node (`mirror_client.go` in k8s.io/kubernetes/pkg/kubelet/pod). A Job counts a
 * pod that is being deleted as failed (`isPodFailed` in k8s.io/kubernetes/pkg/controller/job), and is failed for good after `backoffLimit` of them.
 */
const whyLeftAlone = ({ controller }: PodView): LeftAloneReason | undefined => {
  if (controller === undefined) return 'no-controller';
  const { apiVersion, kind } = controller;
  if (apiVersion === 'v1' && kind === 'Node') return 'mirror-pod';
  return apiVersion === 'batch/v1' && kind === 'Job' ? 'pod-of-job' : undefined;
};

/** Turns conflicts into refusals if the watch had time to show another version of the pod and did not. */
const findRefused = (
  dependents: readonly DependentPod[],
  { state, now }: WeederDecideInput,
): { readonly refused: readonly Refusal[]; readonly attempts: Map<string, Attempt> } => {
  const attempts = new Map(state.attempts);
  const refused = dependents.flatMap((dependent): readonly Refusal[] => {
    const { pod } = dependent;
    const attempt = attempts.get(pod.uid);
    if (attempt?.kind !== 'conflict') return [];
    if (attempt.resourceVersion !== pod.resourceVersion || deletableAt(attempt, pod) > now) return [];
    attempts.set(pod.uid, backOff(attempt.failures, attempt.at, 0));
    return [{ dependent, error: attempt.error }];
  });
  return { refused, attempts };
};

interface DeletionInput {
  readonly pods: readonly DependentPod[];
  readonly state: NamespaceState;
  /** Attempts, in which refused deletes are marked as failed, and pods that must not be deleted as left alone. */
  readonly known: Attempts;
  readonly now: number;
}

const chooseDeletions = (
  deletable: readonly DependentPod[],
  { pods, state, known, now }: DeletionInput,
): Pick<WeedingDecision, 'deletions' | 'nextDecisionAt'> & Pick<NamespaceState, 'owners' | 'attempts'> => {
  const owners = new Map(state.owners);
  const attempts = new Map(known);
  const deletions: DependentPod[] = [];
  let nextDecisionAt = Number.POSITIVE_INFINITY;
  for (const dependent of deletable) {
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
    owners: new Map([...state.owners].filter(([uid, owner]) => isOwnerNeeded(owner, uid))),
    attempts: new Map([...state.attempts].filter(([uid, attempt]) => present.has(uid) || isPending(attempt))),
  };
};
