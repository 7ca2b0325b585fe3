import { decodePod } from '../domain/index.ts';
import { createInformer, inLane } from '../kube/index.ts';
import type { Clock, Kube, Logger, PodWatches, Random } from '../ports/index.ts';

export interface PodWatchDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly seed: Kube;
}

export interface ClosablePodWatches extends PodWatches {
  /** Resolves when all watches that were closed have ended. */
  closed(): Promise<void>;
}

/** Watches of pods in the lane that `--kube-api-qps` does not hold up. */
export const createPodWatches = ({ clock, random, logger, seed }: PodWatchDeps): ClosablePodWatches => {
  const kube = inLane(seed, 'urgent');
  const running = new Set<Promise<void>>();
  return {
    open: ({ namespace, selector }) => {
      const informer = createInformer({
        kube,
        clock,
        random,
        logger,
        path: namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
        query: { labelSelector: selector },
        project: decodePod,
      });
      const closing = new AbortController();
      const run = informer.run(closing.signal).finally(() => running.delete(run));
      running.add(run);
      return {
        store: informer,
        close: () => closing.abort(new Error('the weedings that need this watch have ended')),
      };
    },
    closed: async () => {
      await Promise.all(running);
    },
  };
};
