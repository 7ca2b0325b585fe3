/**
 * Back-off of one controller owner. Its pods are deleted in batches: a batch is all of the owner's pods that exist when it begins. The pods that
 * the owner makes in their place belong to the next batch. Times are monotonic milliseconds.
 */
export interface OwnerBackoff {
  /** UIDs of the pods in the current batch. */
  readonly batch: ReadonlySet<string>;
  /** Batches in which a pod was deleted, the current one included. */
  readonly batches: number;
  /** True once a pod of the current batch was deleted. */
  readonly counted: boolean;
  readonly lastDeletedAt: number;
}

/** Waits between two batches: the weeder must not become the crash loop. */
const waitsMs = [10_000, 20_000, 40_000, 80_000] as const;
const longestWaitMs = 80_000;

/** After a container ran for ten minutes the kubelet resets its back-off, too (k8s.io/kubernetes/pkg/kubelet, 2 * MaxContainerBackOff). */
const resetAfterMs = 600_000;

/** When the next batch may begin. */
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

/** When the back-off is reset. */
export const resetAt = ({ lastDeletedAt }: OwnerBackoff): number => lastDeletedAt + resetAfterMs;
