import type { CareShoot } from '../gardener/care-shoots.ts';
import type { Cluster } from '../gardener/cluster.ts';
import { type StoreChange, longestSilenceMs, waitForSync, waitUntilOrDeadline } from '../kubernetes/cache/index.ts';
import { withShootPolicy, withTunnelPolicy } from '../kubernetes/connection/index.ts';
import { type ConfiguredComponent, type ReadyCheck, WorkQueue, whenAborted } from '../process/index.ts';
import type { CareSettings } from './config.ts';
import { type CareWatchDeps, type CareWatches, createCareWatches } from './observe/seed.ts';
import type { CareReport } from './report.ts';
import { type LastResults, type ShootCheckDeps, type ShootResult, checkShoot } from './shoot.ts';
import { type NamedShoot, namedShoot } from '../status/state/find-shoot.ts';

/** What outlives a change of the configuration. */
export interface CareDeps extends CareWatchDeps, Pick<ShootCheckDeps, 'connector' | 'tunnels' | 'writer'> {
  readonly report: CareReport;
  readonly results: LastResults;
}

/** True if the operation on the shoot has just succeeded. It is then checked at once, because its conditions matter now. */
const hasJustSucceeded = ({ value, previous }: StoreChange<Cluster<CareShoot>>): boolean => {
  const stateOf = (cluster: Cluster<CareShoot> | undefined): string | undefined =>
    cluster?.shoot.ok === true ? cluster.shoot.value.lastOperation?.state : undefined;
  return stateOf(previous) === 'Processing' && stateOf(value) === 'Succeeded';
};

/** Care of a seed under one configuration. It watches the control planes and, while it leads, checks each shoot once per sync period. */
export class CareController implements ConfiguredComponent<CareSettings, undefined> {
  readonly settings: CareSettings;
  readonly #deps: CareDeps;
  readonly #watches: CareWatches;
  readonly #checkDeps: ShootCheckDeps;
  readonly #closing = new AbortController();
  #watching = Promise.resolve();

  constructor(settings: CareSettings, deps: CareDeps) {
    this.settings = settings;
    this.#deps = deps;
    this.#watches = createCareWatches(settings, deps);
    this.#checkDeps = {
      ...deps,
      settings,
      watches: this.#watches,
      connector: withShootPolicy(deps.connector, settings),
      tunnels: withTunnelPolicy(deps.tunnels, settings),
    };
  }

  /**
   * Resolves when all served kinds are listed: it waits for kinds that every check needs without a limit, or rejects after `timeoutMs`, and then for the others
   * as long as that, or as any watch may be silent: after an outage of the seed, large lists take their time.
   */
  async sync(timeoutMs?: number): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#closing;
    const watches = this.#watches;
    this.#watching = watches.run(signal);
    const needed = [watches.clusters, watches.kubeconfigs];
    await waitForSync(needed, { clock, logger, signal, timeoutMs });
    const deadline = clock.monotonic() + (timeoutMs ?? longestSilenceMs);
    await waitUntilOrDeadline(() => watches.isComplete(), { clock, signal, deadline });
  }

  /** Checks shoots until `signal` aborts. Running checks then end at once, because the next leader or configuration repeats them. */
  async work(_: undefined, signal: AbortSignal): Promise<undefined> {
    const { clock, random, report, logger, results } = this.#deps;
    const { syncPeriod, concurrentSyncs } = this.settings;
    const { clusters } = this.#watches;
    const queue = new WorkQueue({
      clock,
      concurrency: concurrentSyncs,
      limited: {
        has: (namespace) => results.get(namespace)?.isSlow ?? false,
        concurrency: Math.max(1, Math.floor(concurrentSyncs / 2)),
      },
      reconcile: async (namespace) => {
        const startedAt = clock.monotonic();
        if ((await this.check(namespace, signal)) === undefined) return;
        queue.addAfter(namespace, Math.max(0, startedAt + syncPeriod - clock.monotonic()));
      },
      onError: (namespace, error) => {
        if (!signal.aborted) report.unexpectedError(namespace, error);
      },
    });
    const addFirst = (namespace: string): void => queue.addAfter(namespace, random.next() * syncPeriod);
    const unsubscribe = clusters.subscribe((change) => {
      const { type, key, previous } = change;
      if (type === 'deleted') results.delete(key);
      else if (previous === undefined) addFirst(key);
      else if (hasJustSucceeded(change)) queue.add(key);
    });
    // A Cluster may have gone while nobody was subscribed, between two configurations.
    for (const key of results.keys()) if (clusters.get(key) === undefined) results.delete(key);
    const namespaces = this.namespaces();
    namespaces.forEach(addFirst);
    logger.info('taking care of shoots', { shoots: namespaces.length });
    await whenAborted(signal);
    unsubscribe();
    await queue.drain();
    return undefined;
  }

  /** Checks one shoot. Resolves with undefined if it does not exist. Rejects only with `signal.reason`, or for a bug. */
  async check(namespace: string, signal: AbortSignal): Promise<ShootResult | undefined> {
    const { report, results } = this.#deps;
    const { clusters } = this.#watches;
    const cluster = clusters.get(namespace);
    if (cluster === undefined) return undefined;
    const last = results.get(namespace);
    const result = await checkShoot(this.#checkDeps, cluster, { last, signal });
    // The Cluster may be gone by now.
    if (clusters.get(namespace) === undefined) return result;
    results.set(namespace, result);
    report.checked(result, last);
    return result;
  }

  /** Returns the control-plane namespaces of all shoots, sorted. */
  namespaces(): readonly string[] {
    return Array.from(this.#watches.clusters.entries(), ([namespace]) => namespace).sort();
  }

  /** Returns all shoots, in the same order. */
  shoots(): readonly NamedShoot[] {
    const { clusters } = this.#watches;
    return this.namespaces().map((namespace) => namedShoot(namespace, clusters.get(namespace)?.shootName));
  }

  checks(): readonly ReadyCheck[] {
    return this.#watches.checks();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('these watches are no longer needed'));
    await this.#watching;
  }
}
