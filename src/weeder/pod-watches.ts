import { ApiError } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { decodePod } from '../kubernetes/api/pod.ts';
import { type WatchRegistry, createInformer } from '../kubernetes/cache/index.ts';
import { inLane } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import type { PodWatches } from './pod-watch.ts';

export interface PodWatchDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly seed: Kube;
  readonly errors: Counter;
  readonly registry: WatchRegistry;
}

export interface ClosablePodWatches extends PodWatches {
  /** Resolves when all watches that were closed have ended. */
  closed(): Promise<void>;
}

/** To be called once per meter. */
export const createPodWatchErrors = (meter: Meter): Counter =>
  meter.counter({
    name: 'dwd_weeder_watch_errors_total',
    help: 'Lists and watches of pods that failed, by HTTP status or error code; each is tried again while its weedings last.',
    labels: ['code'],
  });

const countingFailures = (kube: Kube, errors: Counter): Kube => ({
  request: async (request) => {
    try {
      const response = await kube.request(request);
      if (response.status >= 400) errors.inc({ code: String(response.status) });
      return response;
    } catch (error) {
      if (!request.signal.aborted) errors.inc({ code: error instanceof ApiError ? error.code : 'unknown' });
      throw error;
    }
  },
});

/** Hundreds of watches may fail for one reason: each error code is told once, as long as any watch is open. */
const tellingOnce = (logger: Logger, told: Set<unknown>): Logger => ({
  debug: (message, fields) => logger.debug(message, fields),
  info: (message, fields) => logger.info(message, fields),
  error: (message, fields) => logger.error(message, fields),
  warn: (message, fields: LogFields = {}) => {
    logger[told.has(fields.code) ? 'debug' : 'warn'](message, fields);
    told.add(fields.code);
  },
  child: (fields) => tellingOnce(logger.child(fields), told),
});

/** Watches of pods in the lane that `--kube-api-qps` does not hold up. */
export const createPodWatches = ({
  clock,
  random,
  logger,
  seed,
  errors,
  registry,
}: PodWatchDeps): ClosablePodWatches => {
  const kube = countingFailures(inLane(seed, 'urgent'), errors);
  const running = new Set<Promise<void>>();
  const told = new Set<unknown>();
  return {
    open: ({ namespace, selector }) => {
      const informer = createInformer({
        kube,
        clock,
        random,
        logger: tellingOnce(logger, told),
        path: namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
        query: { labelSelector: selector },
        project: decodePod,
        registry,
      });
      const closing = new AbortController();
      const run = informer.run(closing.signal).finally(() => {
        running.delete(run);
        if (running.size === 0) told.clear();
      });
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
