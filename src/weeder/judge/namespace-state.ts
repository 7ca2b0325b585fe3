import type { PodView } from '../../kubernetes/api/pod.ts';
import { type Attempt, type Attempts, backOff, failuresOf, type DeleteOutcome } from './attempts.ts';
import { beginBatch, type OwnerBackoff, recordDelete } from './owner-backoff.ts';

/** State of one namespace between two decisions of the weeder. */
export interface NamespaceState {
  /** Back-offs by UID of the controller owner. */
  readonly owners: ReadonlyMap<string, OwnerBackoff>;
  /** Latest deletes by UID of the pod. */
  readonly attempts: Attempts;
}

export const emptyNamespaceState: NamespaceState = {
  owners: new Map(),
  attempts: new Map(),
};

/** Returns the state after the delete of `pod` ended with `outcome`. Pure. */
export const recordOutcome = (
  state: NamespaceState,
  { pod, outcome }: { readonly pod: PodView; readonly outcome: DeleteOutcome },
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
      const { retryAfterMs, mayHaveTakenEffect } = outcome;
      // Even if the response is lost, the pod that replaces a deleted one must wait for the next batch.
      const owners = mayHaveTakenEffect ? withDelete(state.owners, pod, now) : state.owners;
      return after(backOff(failures, now, retryAfterMs), owners);
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
