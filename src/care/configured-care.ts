import { waitUntilOrDeadline, waitForSync } from '../kubernetes/cache/index.ts';
import { withShootPolicy, withTunnelPolicy } from '../kubernetes/connection/index.ts';
import { type ReadyCheck, type ConfiguredComponent, WorkQueue, whenAborted } from '../process/index.ts';
import { CareController, type CareControllerDeps, type CareState } from './controller.ts';
import type { CareSettings } from './settings.ts';
import { type CareSourceDeps, type CareWatches, createCareWatches } from './sources.ts';

/** Dependencies that ConfiguredCare creates itself, or gets under another name: here `garden` is the transport, and `writer` the client. */
type OwnParts = 'settings' | 'sources' | 'requeueAfter' | 'garden';

export interface ConfiguredCareDeps extends CareSourceDeps, Omit<CareControllerDeps, OwnParts> {
  /** Client of the garden. If absent, care writes nothing. */
  readonly writer: CareControllerDeps['garden'];
}
/** Maximum wait for kinds whose lists fail, in milliseconds. */
const restSyncMs = 30_000;

/** Waits until all served kinds are listed: without limit for kinds that every check needs, and for a limited time for the others. */
export const untilWatched = async (watches: CareWatches, deps: CareSourceDeps, signal: AbortSignal): Promise<void> => {
  const { clock, logger } = deps;
  const deadline = clock.monotonic() + restSyncMs;
  await waitForSync(watches.required, { clock, logger, signal });
  await waitUntilOrDeadline(() => watches.isComplete(), { clock, signal, deadline });
};

/** Care of a seed under one configuration. It watches the control planes and, while it leads, checks the shoots. */
export class ConfiguredCare implements ConfiguredComponent<CareSettings, CareState> {
  readonly settings: CareSettings;
  readonly #deps: ConfiguredCareDeps;
  readonly #watches: CareWatches;
  readonly #closing = new AbortController();
  #watching = Promise.resolve();

  constructor(settings: CareSettings, deps: ConfiguredCareDeps) {
    this.settings = settings;
    this.#deps = deps;
    this.#watches = createCareWatches(settings, deps);
  }

  async sync(): Promise<void> {
    const { signal } = this.#closing;
    this.#watching = this.#watches.run(signal);
    await untilWatched(this.#watches, this.#deps, signal);
  }

  /** Checks shoots until `signal` aborts. Running checks then end at once, because the next leader or configuration repeats them. */
  async work(before: CareState | undefined, signal: AbortSignal): Promise<CareState> {
    const { settings } = this;
    const { clock, report, logger, connector, tunnels, writer: garden } = this.#deps;
    const queue = new WorkQueue<string>({
      clock,
      concurrency: settings.concurrentSyncs,
      limited: {
        has: (namespace) => controller.isSlow(namespace),
        concurrency: Math.max(1, Math.floor(settings.concurrentSyncs / 2)),
      },
      reconcile: (namespace) => controller.reconcile(namespace, signal),
      onError: (namespace, error) => {
        if (!signal.aborted) report.unexpectedError(namespace, error);
      },
    });
    const deps: CareControllerDeps = {
      ...this.#deps,
      connector: withShootPolicy(connector, settings),
      tunnels: withTunnelPolicy(tunnels, settings),
      settings,
      sources: this.#watches.sources,
      garden,
      requeueAfter: (namespace, ms) => queue.addAfter(namespace, ms),
    };
    const controller: CareController = new CareController(deps, before);
    controller.start();
    logger.info('taking care of shoots', { shoots: controller.namespaces().length });
    await whenAborted(signal);
    controller.stop();
    await queue.drain();
    return controller.state();
  }

  checks(): readonly ReadyCheck[] {
    return this.#watches.checks();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('these watches are no longer needed'));
    await this.#watching;
  }
}
