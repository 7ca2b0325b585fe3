import { ApiError } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type PodView, decodePod } from '../kubernetes/api/pod.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { type Store, type WatchRegistry, createInformer } from '../kubernetes/cache/index.ts';
import { withPriority } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import type { PodScope } from './judge/watch-plan.ts';

export interface PodWatchDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly seed: Kube;
  readonly errors: Counter;
  readonly registry: WatchRegistry;
}

/** An open watch of pods. */
export interface PodWatch {
  readonly store: Store<PodView>;
  close(): void;
}

export interface PodWatches {
  open(scope: PodScope): PodWatch;
  /** Resolves when all closed watches have ended. */
  closed(): Promise<void>;
}

/** Declares the counter of failed lists and watches of pods. Call it once per meter. */
export const createPodWatchErrors = (meter: Meter): Counter =>
  meter.counter({
    name: 'dwd_weeder_watch_errors_total',
    help: 'Failed lists and watches of pods, by HTTP status or error code; each is retried while its weedings last.',
    labels: ['code'],
  });

const countingErrors = (kube: Kube, errors: Counter): Kube => ({
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

/** Returns a logger that warns once per error code, because hundreds of watches may fail for one reason. The owner of `warned` clears it. */
const warningOnce = (logger: Logger, warned: Set<unknown>): Logger => ({
  debug: (message, fields) => logger.debug(message, fields),
  info: (message, fields) => logger.info(message, fields),
  error: (message, fields) => logger.error(message, fields),
  warn: (message, fields: LogFields = {}) => {
    logger[warned.has(fields.code) ? 'debug' : 'warn'](message, fields);
    warned.add(fields.code);
  },
  child: (fields) => warningOnce(logger.child(fields), warned),
});

/** Creates watches of pods. Their requests have urgent priority, so that `--kube-api-qps` does not delay them. */
export const createPodWatches = ({ seed, errors, logger, ...deps }: PodWatchDeps): PodWatches => {
  const kube = countingErrors(withPriority(seed, 'urgent'), errors);
  const running = new Set<Promise<void>>();
  const warned = new Set<unknown>();
  return {
    open: ({ namespace, selector }) => {
      const informer = createInformer({
        ...deps,
        kube,
        logger: warningOnce(logger, warned),
        path: resourcePath({ apiVersion: 'v1', resource: 'pods', namespace }),
        query: { labelSelector: selector },
        project: decodePod,
      });
      const closing = new AbortController();
      const run = informer.run(closing.signal).finally(() => {
        running.delete(run);
        if (running.size === 0) warned.clear();
      });
      running.add(run);
      const close = (): void => closing.abort(new Error('the weedings that need this watch have ended'));
      return { store: informer, close };
    },
    closed: async () => {
      await Promise.all(running);
    },
  };
};
