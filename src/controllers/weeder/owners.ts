/**
 * How often pods of one controller owner may be deleted. Pods are deleted in rounds: all of the owner's pods that are there when a round
 * begins may be deleted in it, the ones that the owner made in their place only in the next. Times are monotonic milliseconds.
 */
export interface OwnerMemory {
  /** UIDs of the pods of this round. */
  readonly members: ReadonlySet<string>;
  /** Rounds in which something was deleted, this one included. */
  readonly rounds: number;
  /** Something was deleted in this round. */
  readonly counted: boolean;
  readonly lastDeletedAt: number;
}

/** Waits between two rounds: the weeder must not become the crash loop. */
const waitsMs = [10_000, 20_000, 40_000, 80_000] as const;
const longestWaitMs = 80_000;

/** A container that has run for ten minutes starts over with the kubelet's back-off too (k8s.io/kubernetes/pkg/kubelet, 2 * MaxContainerBackOff). */
const forgetAfterMs = 600_000;

/** When pods that are not of this round may be deleted. */
export const nextRoundAt = ({ rounds, lastDeletedAt }: OwnerMemory): number =>
  rounds === 0 ? Number.NEGATIVE_INFINITY : lastDeletedAt + (waitsMs[rounds - 1] ?? longestWaitMs);

export const beginRound = (owner: OwnerMemory | undefined, members: Iterable<string>): OwnerMemory => ({
  members: new Set(members),
  rounds: owner?.rounds ?? 0,
  counted: false,
  lastDeletedAt: owner?.lastDeletedAt ?? Number.NEGATIVE_INFINITY,
});

export const recordDelete = (owner: OwnerMemory, now: number): OwnerMemory => ({
  ...owner,
  rounds: owner.counted ? owner.rounds : owner.rounds + 1,
  counted: true,
  lastDeletedAt: now,
});

/** When the owner may be forgotten. */
export const forgetAt = ({ lastDeletedAt }: OwnerMemory): number => lastDeletedAt + forgetAfterMs;
