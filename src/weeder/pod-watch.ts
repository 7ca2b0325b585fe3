import type { PodView } from '../kubernetes/api/pod.ts';
import type { Store } from '../kubernetes/cache/index.ts';

/** Which pods a watch shows. */
export interface PodScope {
  /** Absent: of all namespaces. */
  readonly namespace?: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

/** A watch of pods, kept open until it is closed. */
export interface PodWatch {
  readonly store: Store<PodView>;
  close(): void;
}

export interface PodWatches {
  open(scope: PodScope): PodWatch;
}
