import { createProberController, createProberReport } from '../controllers/prober/index.ts';
import type { ProberSettings } from '../domain/index.ts';
import { createKubeClient } from '../kube/index.ts';
import type { Clock, Kube, KubeClient, Leadership, Logger, Meter, Random, ShootConnector } from '../ports/index.ts';
import { type Check, createWorkQueue, type Runnable, type WorkQueue, whenAborted } from '../runtime/index.ts';
import { createProberSources, type ProberSources } from './sources.ts';

export interface ProberPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Transport to the seed, with all its policies. */
  readonly seed: Kube;
  readonly connector: ShootConnector;
  readonly leadership: Leadership;
}

export interface ProberOptions {
  readonly settings: ProberSettings;
  readonly ports: ProberPorts;
  /** Clusters reconciled at the same time. */
  readonly concurrency: number;
}

/** The prober of a seed as parts of a program: the caches of a standby are filled too, its controller waits for its turn. */
export interface ProberParts {
  readonly caches: Runnable;
  readonly controller: Runnable;
  checks(): readonly Check[];
}

/** What dependents may take to be known before probing starts without them: an outage may be under way. */
const dependentsSyncMs = 10_000;
const pollMs = 50;

export const createProber = (options: ProberOptions): ProberParts => {
  const { clock, random, logger, seed } = options.ports;
  const client = createKubeClient({ kube: seed, clock });
  const sources = createProberSources(options.settings, { clock, random, logger, kube: seed, client });
  return {
    caches: { name: 'caches', run: (signal, ready) => runCaches({ sources, clock, ready }, signal) },
    controller: {
      name: 'prober',
      run: async (signal, ready) => {
        ready();
        await runController(options, { sources, client, signal });
      },
    },
    checks: () => checksOf(sources),
  };
};

/** Waits for the seed's API server as long as it takes: a watchdog that crash-loops protects nobody. */
const runCaches = async (
  { sources, clock, ready }: { readonly sources: ProberSources; readonly clock: Clock; readonly ready: () => void },
  signal: AbortSignal,
): Promise<void> => {
  const { clusters, kubeconfigs, dependents } = sources;
  const watches = [clusters, kubeconfigs, ...dependents].map((source) => source.run(signal));
  try {
    await clusters.whenSynced(signal);
    await kubeconfigs.whenSynced(signal);
    await waitForDependents(sources, clock, signal);
    ready();
    await whenAborted(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.all(watches);
};

/** Until every dependent is either synced or known not to be served, but not for ever: what is not known is read when needed. */
const waitForDependents = async ({ dependents }: ProberSources, clock: Clock, signal: AbortSignal): Promise<void> => {
  const isKnown = (): boolean =>
    dependents.every((source) => source.store.synced || source.served().kind === 'not-served');
  const deadline = clock.monotonic() + dependentsSyncMs;
  while (!isKnown() && clock.monotonic() < deadline) await clock.sleep(pollMs, signal);
};

const runController = async (
  { settings, ports, concurrency }: ProberOptions,
  parts: { readonly sources: ProberSources; readonly client: KubeClient; readonly signal: AbortSignal },
): Promise<void> => {
  const { clusters, kubeconfigs, dependents } = parts.sources;
  const report = createProberReport(ports);
  const initial = new Set(Array.from(clusters.entries(), ([name]) => name));
  const queue: WorkQueue<string> = createWorkQueue({
    clock: ports.clock,
    concurrency,
    reconcile: async (name) => controller.reconcile(name),
    onError: (name, error) => report.broke(name, error),
  });
  const controller = createProberController(
    {
      ...ports,
      seed: parts.client,
      settings,
      report,
      clusters,
      kubeconfigs,
      dependents: new Map(dependents.map((source) => [source.key, source])),
      requeueAfter: (name, ms) => queue.addAfter(name, ms),
    },
    initial,
  );
  const unsubscribe = clusters.subscribe(({ key }) => queue.add(key));
  for (const name of initial) queue.add(name);
  ports.logger.info('probing begins', { clusters: initial.size });
  await whenAborted(parts.signal);
  unsubscribe();
  await queue.drain();
  await controller.stop();
};

const checksOf = ({ clusters, kubeconfigs, dependents }: ProberSources): readonly Check[] => {
  const caches = [
    { name: 'clusters', ok: clusters.synced, problem: clusters.state().lastError?.message },
    { name: 'kubeconfig-secrets', ok: kubeconfigs.synced, problem: kubeconfigs.state().lastError?.message },
    // A kind that is not served is told, but the others are protected all the same.
    ...dependents.map((source) => ({
      name: source.key,
      ok: source.store.synced || source.served().kind === 'not-served',
      problem: source.problem(),
    })),
  ];
  return caches.map(({ name, ok, problem }) => ({ name, ok, ...(problem === undefined ? {} : { detail: problem }) }));
};

export interface RunningComponent {
  checks(): readonly Check[];
  /** Lets writes under way finish, sends nothing new, ends all watches. */
  stop(): Promise<void>;
}

/** Runs all parts at once, for worlds in memory: no servers, no leader election. */
export const startProber = (options: ProberOptions): RunningComponent => {
  const { caches, controller, ...parts } = createProber(options);
  const stopControllers = new AbortController();
  const stopCaches = new AbortController();
  let controllers = Promise.resolve();
  const running = caches.run(stopCaches.signal, () => {
    controllers = controller.run(stopControllers.signal, () => undefined);
  });
  return {
    checks: () => parts.checks(),
    stop: async () => {
      stopControllers.abort();
      await controllers;
      stopCaches.abort();
      await running;
    },
  };
};
