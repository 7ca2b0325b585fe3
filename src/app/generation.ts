import {
  createProberController,
  type ProberController,
  type ProberMemory,
  type ProberReport,
} from '../controllers/prober/index.ts';
import type { ProberSettings } from '../domain/index.ts';
import type { Clock, Gauge, Kube, KubeClient, Logger, Random, ShootConnector } from '../ports/index.ts';
import { type Check, createWorkQueue, type WorkQueue, whenAborted } from '../runtime/index.ts';
import type { Active, Generation } from './reloadable.ts';
import { createProberSources, type ProberSources } from './sources.ts';
import { untilFilled } from './until-filled.ts';

export interface GenerationDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly report: ProberReport;
  readonly seed: Kube;
  readonly client: KubeClient;
  readonly connector: ShootConnector;
  readonly unserved: Gauge;
  readonly dryRun: boolean;
  /** Clusters reconciled at the same time. */
  readonly concurrency: number;
}

/** What the probers remember, by Cluster. */
export type ProberMemories = ReadonlyMap<string, ProberMemory>;

/** What dependents may take to be known before probing starts without them: an outage may be under way. */
const dependentsSyncMs = 10_000;
const pollMs = 50;

/** The prober of a seed under one configuration. */
export const createGeneration = (
  settings: ProberSettings,
  deps: GenerationDeps,
): Generation<ProberSettings, ProberMemories> => {
  const { clock, random, logger, seed, client, unserved } = deps;
  const sources = createProberSources(settings, { clock, random, logger, kube: seed, client, unserved });
  const closing = new AbortController();
  let watches: readonly Promise<void>[] = [];
  return {
    settings,
    sync: async () => {
      const { clusters, kubeconfigs, dependents } = sources;
      watches = [clusters, kubeconfigs, ...dependents].map((source) => source.run(closing.signal));
      await untilFilled([clusters, kubeconfigs], { clock, logger, signal: closing.signal });
      await untilDependentsKnown(sources, clock, closing.signal);
    },
    start: (memories, signal) => startProbing({ settings, sources, deps, memories: memories ?? new Map() }, signal),
    checks: () => checksOf(sources),
    close: async () => {
      closing.abort(new Error('these watches are no longer needed'));
      await Promise.all(watches);
    },
  };
};

/** Until every dependent is either synced or known not to be served, but not for ever: what is not known is read when needed. */
const untilDependentsKnown = async (
  { dependents }: ProberSources,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => {
  const isKnown = (): boolean =>
    dependents.every((source) => source.store.synced || source.served().kind === 'not-served');
  const deadline = clock.monotonic() + dependentsSyncMs;
  while (!isKnown() && clock.monotonic() < deadline) await clock.sleep(pollMs, signal);
};

interface ProbingParts {
  readonly settings: ProberSettings;
  readonly sources: ProberSources;
  readonly deps: GenerationDeps;
  readonly memories: ProberMemories;
}

const startProbing = (
  { settings, sources, deps, memories }: ProbingParts,
  signal: AbortSignal,
): Active<ProberMemories> => {
  const { clusters, kubeconfigs, dependents } = sources;
  const initial = { clusters: new Set(Array.from(clusters.entries(), ([name]) => name)), memories };
  const queue: WorkQueue<string> = createWorkQueue({
    clock: deps.clock,
    concurrency: deps.concurrency,
    reconcile: async (name) => controller.reconcile(name),
    onError: (name, error) => deps.report.broke(name, error),
  });
  const controller: ProberController = createProberController(
    {
      ...deps,
      seed: deps.client,
      settings,
      clusters,
      kubeconfigs,
      dependents: new Map(dependents.map((source) => [source.key, source])),
      requeueAfter: (name, ms) => queue.addAfter(name, ms),
    },
    initial,
  );
  const unsubscribe = clusters.subscribe(({ key }) => queue.add(key));
  for (const name of initial.clusters) queue.add(name);
  deps.logger.info('probing begins', { clusters: initial.clusters.size });
  const end = async (): Promise<void> => {
    await whenAborted(signal);
    unsubscribe();
    await queue.drain();
    await controller.stop();
  };
  return { memory: () => controller.memories(), ended: end() };
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
