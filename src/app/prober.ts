import { createProberController, createProberReport, type ProberController } from '../controllers/prober/index.ts';
import type { ProberSettings } from '../domain/index.ts';
import { createKubeClient } from '../kube/index.ts';
import type { Clock, Kube, Leadership, Logger, Meter, Random, ShootConnector } from '../ports/index.ts';
import { createWorkQueue, type WorkQueue } from '../runtime/index.ts';
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

/** One line of `/readyz`. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string;
}

export interface RunningComponent {
  checks(): readonly Check[];
  /** Lets writes under way finish, sends nothing new, ends all watches. */
  stop(): Promise<void>;
}

export interface ProberOptions {
  readonly settings: ProberSettings;
  readonly ports: ProberPorts;
  /** Clusters reconciled at the same time. */
  readonly concurrency: number;
}

/** What dependents may take to be known before probing starts without them: an outage may be under way. */
const dependentsSyncMs = 10_000;

/**
 * The prober of a seed, from its ports. Starts at once and waits for the seed's API server as long as it takes; probing begins when
 * Clusters and kubeconfigs are known.
 */
export const startProber = ({ settings, ports, concurrency }: ProberOptions): RunningComponent => {
  const { clock, random, logger, seed } = ports;
  const client = createKubeClient({ kube: seed, clock });
  const sources = createProberSources(settings, { clock, random, logger, kube: seed, client });
  const stop = new AbortController();
  const watches = [sources.clusters, sources.kubeconfigs, ...sources.dependents].map((source) =>
    source.run(stop.signal),
  );
  let running: { readonly controller: ProberController; readonly queue: WorkQueue<string> } | undefined;

  const begin = async (): Promise<void> => {
    await sources.clusters.whenSynced(stop.signal);
    await sources.kubeconfigs.whenSynced(stop.signal);
    await waitForDependents(sources, clock, stop.signal);
    running = startController({ settings, ports, concurrency }, { sources, client });
    logger.info('caches are filled: probing begins', { clusters: [...sources.clusters.entries()].length });
  };
  const begun = begin().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });

  return {
    checks: () => checksOf(sources, running !== undefined),
    stop: async () => {
      stop.abort(new Error('the program is stopping'));
      await begun;
      await running?.queue.drain();
      await running?.controller.stop();
      await Promise.all(watches);
    },
  };
};

const startController = (
  { settings, ports, concurrency }: ProberOptions,
  { sources, client }: { readonly sources: ProberSources; readonly client: ReturnType<typeof createKubeClient> },
): { readonly controller: ProberController; readonly queue: WorkQueue<string> } => {
  const { clusters, kubeconfigs } = sources;
  const report = createProberReport(ports);
  const queue: WorkQueue<string> = createWorkQueue({
    clock: ports.clock,
    concurrency,
    reconcile: async (name) => controller.reconcile(name),
    onError: (name, error) => report.broke(name, error),
  });
  const initial = new Set([...clusters.entries()].map(([name]) => name));
  const controller = createProberController(
    {
      ...ports,
      seed: client,
      settings,
      report,
      clusters,
      kubeconfigs,
      dependents: new Map(sources.dependents.map((source) => [source.key, source])),
      requeueAfter: (name, ms) => queue.addAfter(name, ms),
    },
    initial,
  );
  clusters.subscribe(({ key }) => queue.add(key));
  for (const name of initial) queue.add(name);
  return { controller, queue };
};

/** Until every dependent is either synced or known not to be served, but not for ever: what is not known is read when needed. */
const waitForDependents = async ({ dependents }: ProberSources, clock: Clock, signal: AbortSignal): Promise<void> => {
  const isSettled = (): boolean =>
    dependents.every((source) => source.store.synced || source.served().kind === 'not-served');
  const deadline = clock.monotonic() + dependentsSyncMs;
  while (!isSettled() && clock.monotonic() < deadline) await clock.sleep(50, signal);
};

const checksOf = ({ clusters, kubeconfigs, dependents }: ProberSources, isProbing: boolean): readonly Check[] => {
  const caches = [
    { name: 'clusters', ok: clusters.synced, problem: clusters.state().lastError?.message },
    { name: 'kubeconfig-secrets', ok: kubeconfigs.synced, problem: kubeconfigs.state().lastError?.message },
    // A kind that is not served is told, but the others are protected all the same.
    ...dependents.map((source) => ({
      name: source.key,
      ok: source.store.synced || source.served().kind === 'not-served',
      problem: source.problem(),
    })),
    { name: 'probing', ok: isProbing, problem: isProbing ? undefined : 'waits for its caches' },
  ];
  return caches.map(({ name, ok, problem }) => ({ name, ok, ...(problem === undefined ? {} : { detail: problem }) }));
};
