import { untilFilled } from '../kubernetes/cache/index.ts';
import { fanOut } from '../kubernetes/client/index.ts';
import { withShootPolicy, withTunnelPolicy } from '../kubernetes/connection/index.ts';
import { type Generation, WorkQueue, whenAborted } from '../process/index.ts';
import { CareController, type CareControllerDeps, type CareState } from './controller.ts';
import type { CareSettings } from './settings.ts';
import { type CareSourceDeps, type CareWatches, createCareWatches } from './sources.ts';

export interface CareGenerationDeps extends CareSourceDeps, Omit<CareControllerDeps, OfGeneration> {}

/** What a generation makes for itself; `garden` is the transport here and the client in `writer`. */
type OfGeneration = 'settings' | 'sources' | 'requeueAfter' | 'garden';

export interface CareWork {
  readonly settings: CareSettings;
  readonly deps: CareGenerationDeps & { readonly writer: CareControllerDeps['garden'] };
}

/** What kinds that fail to be listed may take before shoots are checked without them. */
const restSyncMs = 30_000;
const pollMs = 50;

/** Until all that is served is known; but for ever only for what nothing can be done without. */
export const untilWatched = async (watches: CareWatches, deps: CareSourceDeps, signal: AbortSignal): Promise<void> => {
  const { clock, logger } = deps;
  const deadline = clock.monotonic() + restSyncMs;
  await untilFilled(watches.vital, { clock, logger, signal });
  while (!watches.isComplete() && clock.monotonic() < deadline) await clock.sleep(pollMs, signal);
};

/** The care of a seed under one configuration. */
export const createCareGeneration = ({ settings, deps }: CareWork): Generation<CareSettings, CareState> => {
  const watches = createCareWatches(settings, deps);
  const closing = new AbortController();
  let watching = Promise.resolve();
  return {
    settings,
    sync: async () => {
      watching = watches.run(closing.signal);
      await untilWatched(watches, deps, closing.signal);
    },
    work: (memory, signal) => care({ settings, deps, watches, memory }, signal),
    checks: () => watches.checks(),
    close: async () => {
      closing.abort(new Error('these watches are no longer needed'));
      await watching;
    },
  };
};

interface CaringParts extends CareWork {
  readonly watches: CareWatches;
  readonly memory: CareState | undefined;
}

/** The conditions that a run under way is about to make are made again by the next: it ends at once. */
const care = async ({ settings, deps, watches, memory }: CaringParts, signal: AbortSignal): Promise<CareState> => {
  const { clock, report, logger } = deps;
  const until = fanOut(signal);
  const queue = new WorkQueue<string>({
    clock,
    concurrency: settings.concurrentSyncs,
    limited: {
      has: (namespace) => controller.isSlow(namespace),
      concurrency: Math.max(1, Math.floor(settings.concurrentSyncs / 2)),
    },
    reconcile: (namespace) => until((end) => controller.reconcile(namespace, end)),
    onError: (namespace, error) => {
      if (!signal.aborted) report.unexpectedError(namespace, error);
    },
  });
  const controller: CareController = new CareController(
    {
      ...deps,
      connector: withShootPolicy(deps.connector, settings),
      tunnels: withTunnelPolicy(deps.tunnels, settings),
      settings,
      sources: watches.sources,
      garden: deps.writer,
      requeueAfter: (namespace, ms) => queue.addAfter(namespace, ms),
    },
    memory,
  );
  controller.start();
  logger.info('taking care of shoots', { shoots: controller.namespaces().length });
  await whenAborted(signal);
  controller.stop();
  await queue.drain();
  return controller.state();
};
