import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { type WatchRegistry, waitForSync } from '../kubernetes/cache/index.ts';
import { withShootPolicy } from '../kubernetes/connection/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Gauge } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { type Check, type Generation, WorkQueue, whenAborted } from '../process/index.ts';
import { type ApiServers, createApiServers } from './api-servers.ts';
import { type HeldByShoot, ProberController } from './controller.ts';
import type { ProberReport } from './report.ts';
import type { ProberSettings } from './settings.ts';
import type { ProberMemory } from './prober-memory.ts';
import { type ProberSources, createProberSources } from './sources.ts';

export interface GenerationDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly report: ProberReport;
  readonly seed: Kube;
  readonly client: KubeClient;
  readonly connector: ShootConnector;
  readonly unserved: Gauge;
  readonly registry: WatchRegistry;
  readonly dryRun: boolean;
  /** Called with what stays held when probing has ended: for good, or to go on under another configuration. */
  readonly onStopped: (held: HeldByShoot) => void;
  /** Clusters reconciled at the same time. */
  readonly concurrency: number;
}

/** What the probers remember, by Cluster. */
export type ProberMemories = ReadonlyMap<string, ProberMemory>;

/** What dependents and outside kubeconfigs may take to be known before probing starts without them: an outage may be under way. */
const restSyncMs = 10_000;
const pollMs = 50;

/** The prober of a seed under one configuration. */
export const createGeneration = (
  settings: ProberSettings,
  deps: GenerationDeps,
): Generation<ProberSettings, ProberMemories> => {
  const { clock, logger } = deps;
  const sources = createProberSources(settings, { ...deps, kube: deps.seed });
  const apiServers = createApiServers(sources.apiServers, clock);
  const closing = new AbortController();
  let watches: readonly Promise<void>[] = [];
  return {
    settings,
    sync: async () => {
      const { clusters, kubeconfigs, dependents } = sources;
      const externalProbe = ownExternalSource(sources);
      watches = [clusters, kubeconfigs, ...externalProbe, ...dependents, sources.apiServers].map((source) =>
        source.run(closing.signal),
      );
      await waitForSync([clusters, kubeconfigs], { clock, logger, signal: closing.signal });
      await untilRestKnown(sources, clock, closing.signal);
    },
    work: (memories, signal) => probe({ settings, sources, apiServers, deps, memories: memories ?? new Map() }, signal),
    checks: () => checksOf(sources),
    close: async () => {
      closing.abort(new Error('these watches are no longer needed'));
      await Promise.all(watches);
    },
  };
};

/** The watch of the outside path's Secrets, where it is one of its own. */
const ownExternalSource = ({
  kubeconfigs,
  externalKubeconfigs: externalProbe,
}: ProberSources): ProberSources['kubeconfigs'][] =>
  externalProbe === undefined || externalProbe === kubeconfigs ? [] : [externalProbe];

/**
 * Until every dependent is either synced or known not to be served, but not for ever: what is not known is read when needed, and without
 * their outside paths shoots are judged by their leases.
 */
const untilRestKnown = async (
  { dependents, externalKubeconfigs }: ProberSources,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => {
  const isKnown = (): boolean =>
    externalKubeconfigs?.synced !== false &&
    dependents.every((source) => source.store.synced || source.served().kind === 'not-served');
  const deadline = clock.monotonic() + restSyncMs;
  while (!isKnown() && clock.monotonic() < deadline) await clock.sleep(pollMs, signal);
};

interface ProbingParts {
  readonly settings: ProberSettings;
  readonly sources: ProberSources;
  readonly apiServers: ApiServers;
  readonly deps: GenerationDeps;
  readonly memories: ProberMemories;
}

const probe = async (
  { settings, sources, apiServers, deps, memories }: ProbingParts,
  signal: AbortSignal,
): Promise<ProberMemories> => {
  const { clusters, kubeconfigs, externalKubeconfigs, dependents } = sources;
  const initial = { clusters: new Set(Array.from(clusters.entries(), ([name]) => name)), memories };
  const queue = new WorkQueue<string>({
    clock: deps.clock,
    concurrency: deps.concurrency,
    reconcile: async (name) => controller.reconcile(name),
    onError: (name, error) => deps.report.broke(name, error),
  });
  const controller: ProberController = new ProberController(
    {
      ...deps,
      seed: deps.client,
      connector: withShootPolicy(deps.connector, settings),
      seedAwayMs: () => Math.max(...[clusters, ...dependents].map((watch) => watch.awayMs())),
      settings,
      clusters,
      kubeconfigs,
      externalKubeconfigs,
      apiServers,
      dependents: new Map(dependents.map((source) => [source.key, source])),
      requeueAfter: (name, ms) => queue.addAfter(name, ms),
    },
    initial,
  );
  const unsubscribe = clusters.subscribe(({ key }) => queue.add(key));
  for (const name of initial.clusters) queue.add(name);
  deps.logger.info('probing begins', { clusters: initial.clusters.size });
  await whenAborted(signal);
  const remembered = controller.memories();
  unsubscribe();
  await queue.drain();
  deps.onStopped(await controller.stop());
  return remembered;
};

const checksOf = (sources: ProberSources): readonly Check[] => {
  const { clusters, kubeconfigs, dependents } = sources;
  const caches = [
    { name: 'clusters', ok: clusters.synced, problem: clusters.state().problem },
    { name: 'kubeconfig-secrets', ok: kubeconfigs.synced, problem: kubeconfigs.state().problem },
    ...ownExternalSource(sources).map((source) => ({
      name: 'outside-kubeconfig-secrets',
      ok: source.synced,
      problem: source.state().problem,
    })),
    // A kind that is not served is told, but the others are protected all the same.
    ...dependents.map((source) => ({
      name: source.key,
      ok: source.store.synced || source.served().kind === 'not-served',
      problem: source.problem(),
    })),
    // Without it an API server out of reach is taken to be down: nobody waits for it.
    { name: sources.apiServers.key, ok: true, problem: sources.apiServers.problem() },
  ];
  return caches.map(({ name, ok, problem }) => ({ name, ok, ...(problem === undefined ? {} : { detail: problem }) }));
};
