/**
 * Back-off of one controller owner. Its pods are deleted in batches: a batch consists of all the owner's pods that exist when it starts. Pods that the
 * owner creates in their place belong to the next batch. Times are monotonic milliseconds.
 */
export interface OwnerBackoff {
  /** UIDs of the pods in the current batch. */
  readonly batch: ReadonlySet<string>;
  /** Number of batches in which a pod was deleted, including the current one. */
  readonly batches: number;
  /** True once a pod of the current batch was deleted. */
  readonly counted: boolean;
  readonly lastDeletedAt: number;
}

/** Waits between two batches, so that the weeder does not become the crash loop. */
const waitsMs = [10_000, 20_000, 40_000, 80_000] as const;
const longestWaitMs = 80_000;

/** Time from the last delete to the reset of the back-off, as in the kubelet (k8s.io/kubernetes/pkg/kubelet, 2 * MaxContainerBackOff). */
const resetAfterMs = 600_000;

/** Returns the time at which the next batch may start. */
export const nextBatchAt = ({ batches, lastDeletedAt }: OwnerBackoff): number =>
  batches === 0 ? Number.NEGATIVE_INFINITY : lastDeletedAt + (waitsMs[batches - 1] ?? longestWaitMs);

export const beginBatch = (owner: OwnerBackoff | undefined, batch: Iterable<string>): OwnerBackoff => ({
  batch: new Set(batch),
  batches: owner?.batches ?? 0,
  counted: false,
  lastDeletedAt: owner?.lastDeletedAt ?? Number.NEGATIVE_INFINITY,
});

export const recordDelete = (owner: OwnerBackoff, now: number): OwnerBackoff => ({
  ...owner,
  batches: owner.counted ? owner.batches : owner.batches + 1,
  counted: true,
  lastDeletedAt: now,
});

/** Returns the time at which the back-off is reset. */
export const resetAt = ({ lastDeletedAt }: OwnerBackoff): number => lastDeletedAt + resetAfterMs;
