import { isApiError } from '../kubernetes/api/errors.ts';
import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import type { LeaderWatch } from '../kubernetes/api/leadership.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import {
  type Informer,
  type WatchRegistry,
  longestSilenceMs,
  waitUntilOrDeadline,
  waitForSync,
} from '../kubernetes/cache/index.ts';
import { withShootPolicy } from '../kubernetes/connection/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Gauge } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { type ReadyCheck, type ConfiguredComponent, WorkQueue, whenAborted } from '../process/index.ts';
import { type HeldByShoot, ProberController } from './controller.ts';
import { heldByCluster, watchForDropped } from './scale/held.ts';
import type { Role } from './scale/desired.ts';
import type { ProbeGate } from './observe/probe-gate.ts';
import type { Pauses } from './scale/pauses.ts';
import type { Emit } from './report/events.ts';
import type { ShootStates } from './report/state.ts';
import type { ProberSettings } from './config/settings.ts';
import type { ProberMemories } from './shoot.ts';
import type { NamespaceView } from './clusters/cluster-source.ts';
import { type ProberSources, createProberSources } from './clusters/sources.ts';

export interface ConfiguredProberDeps {
  readonly clock: Clock;
  readonly identity: string;
  readonly random: Random;
  readonly logger: Logger;
  readonly emit: Emit;
  readonly pauses: Pauses;
  /** The Namespaces of the seed, watched from `startNamespaces` on. */
  readonly namespaces: Informer<NamespaceView>;
  readonly startNamespaces: () => void;
  /** Namespace of the prober. A pause on it applies to all shoots. */
  readonly ownNamespace: string;
  readonly seed: Kube;
  readonly client: KubeClient;
  readonly connector: ShootConnector;
  readonly unserved: Gauge;
  readonly registry: WatchRegistry;
  readonly gate: ProbeGate;
  readonly states: ShootStates;
  readonly dryRun: boolean;
  /** Called while probing ends, for good or for another configuration, with the numbers of resources that stay held as of now. */
  readonly onHeld: (held: HeldByShoot) => void;
  /** Returns which writes this process may send now. */
  readonly role: () => Role;
  /** Returns a client of the seed that refuses writes unless `mayWrite` returns true. */
  readonly seedFor: (mayWrite: () => boolean) => KubeClient;
  readonly leaderWatch?: LeaderWatch | undefined;
  /** Called with more settings if a resource is held that `settings` do not name: an earlier configuration did. */
  readonly onDropped: (settings: ProberSettings) => void;
}

/**
 * Limit of the wait for dependents and kubeconfigs of external probes, in milliseconds. Then probing starts without them, because an outage may be under way.
 */
const restSyncMs = 10_000;

/** Creates the prober of a seed under one configuration. */
export const createConfiguredProber = (
  settings: ProberSettings,
  deps: ConfiguredProberDeps,
): ConfiguredComponent<ProberSettings, ProberMemories> => {
  const { clock, logger, identity } = deps;
  const sources = createProberSources(settings, { ...deps, kube: deps.seed });
  const closing = new AbortController();
  let watches: readonly Promise<void>[] = [];
  let endOfSearch = (): void => undefined;
  return {
    settings,
    sync: async () => {
      const { clusters, kubeconfigs, dependents } = sources;
      const others = [...ownExternalSource(sources), ...dependents];
      deps.startNamespaces();
      watches = [clusters, kubeconfigs, ...others].map((source) => source.run(closing.signal));
      await waitForSync([clusters, kubeconfigs], { clock, logger, signal: closing.signal });
      await untilRestKnown(sources, deps, closing.signal);
      if (closing.signal.aborted) return;
      endOfSearch = watchForDropped(dependents, { settings, identity, found: deps.onDropped });
    },
    work: (memories, signal) => runController({ settings, sources, deps, memories: memories ?? new Map() }, signal),
    checks: () => checksOf(sources, deps),
    close: async () => {
      closing.abort(new Error('these watches are no longer needed'));
      endOfSearch();
      await Promise.all(watches);
    },
  };
};

/** Returns the watch of the external probe's Secrets, if it has one of its own. */
const ownExternalSource = ({
  kubeconfigs,
  externalKubeconfigs: externalProbe,
}: ProberSources): ProberSources['kubeconfigs'][] =>
  externalProbe === undefined || externalProbe === kubeconfigs ? [] : [externalProbe];

/**
 * Waits until every dependent is either synced or known not to be served, but not for ever: unknown resources are read when needed, a shoot without a known
 * external probe is judged by its leases, and a pause that nobody can read must not cost the protection.
 */
const untilRestKnown = async (
  { dependents, externalKubeconfigs }: ProberSources,
  { namespaces, clock }: Pick<ConfiguredProberDeps, 'namespaces' | 'clock'>,
  signal: AbortSignal,
): Promise<void> => {
  const isKnown = (): boolean =>
    externalKubeconfigs?.synced !== false &&
    (namespaces.synced || isApiError(namespaces.state().lastError, 'Forbidden')) &&
    dependents.every((source) => source.store.synced || source.served().kind === 'not-served');
  await waitUntilOrDeadline(isKnown, { clock, signal, deadline: clock.monotonic() + restSyncMs });
};

interface ProbingParts {
  readonly settings: ProberSettings;
  readonly sources: ProberSources;
  readonly deps: ConfiguredProberDeps;
  readonly memories: ProberMemories;
}

const clusterNames = ({ clusters }: ProberSources): readonly string[] =>
  Array.from(clusters.entries(), ([name]) => name);

/**
 * Finds clusters that do not exist when a configuration takes effect, but that the former one probed, or that have held resources. One that may return counts as
 * existing for a while.
 */
const findLost = ({ sources, deps: { clock }, memories }: ProbingParts) => {
  const { dependents, awaitSince } = sources;
  const since = clock.monotonic();
  const names = new Set([...memories.keys(), ...heldByCluster(dependents).keys()]);
  for (const name of clusterNames(sources)) names.delete(name);
  /** Call this before a cluster is judged: its resources may be seen as held late. */
  const expectReturn = (name: string): void => awaitSince?.(name, since);
  for (const name of names) expectReturn(name);
  return { names, expectReturn };
};

/** Returns the names of the clusters that exist, and of those that have held resources. */
const clustersToRelease = ({ sources }: ProbingParts): ReadonlySet<string> =>
  new Set([...clusterNames(sources), ...heldByCluster(sources.dependents).keys()]);

const runController = async (parts: ProbingParts, signal: AbortSignal): Promise<ProberMemories> => {
  const { settings, sources, deps, memories } = parts;
  const { source, clusters, kubeconfigs, externalKubeconfigs, dependents } = sources;
  const lost = findLost(parts);
  const known = new Set(clusterNames(sources));
  const queue = new WorkQueue({
    clock: deps.clock,
    reconcile: async (name) => {
      lost.expectReturn(name);
      controller.reconcile(name);
    },
    onError: (cluster, error) => deps.emit({ kind: 'unexpected-error', cluster, error }),
  });
  const controller: ProberController = new ProberController(
    {
      ...deps,
      seed: deps.client,
      connector: withShootPolicy(deps.connector, settings),
      isWatchInterrupted: () => dependents.some((watch) => !watch.restoreOnly && watch.interruptedMs() > 0),
      isClusterStale: () => clusters.interruptedMs() > longestSilenceMs,
      settings,
      source,
      clusters,
      kubeconfigs,
      externalKubeconfigs,
      dependents: new Map(dependents.map((source) => [source.key, source])),
      requeueAfter: (name, ms) => queue.addAfter(name, ms),
    },
    { clusters: known, memories },
  );
  deps.pauses.configure(settings.paused);
  // A pause may have begun or been taken back.
  const ignorePauses = deps.namespaces.subscribe(({ key }) =>
    controller.wake(key === deps.ownNamespace ? undefined : key),
  );
  deps.states.clustersBy(sources);
  const unsubscribe = clusters.subscribe(({ key }) => queue.add(key));
  for (const name of [...known, ...lost.names]) queue.add(name);
  const ignoreLead = deps.leaderWatch?.onLead(() => {
    controller.wake();
    // Until now another replica had to release resources, also those of deleted clusters.
    for (const name of clustersToRelease(parts)) queue.add(name);
  });
  deps.logger.info('probing begins', { clusters: known.size });
  await whenAborted(signal);
  const remembered = controller.memories();
  unsubscribe();
  ignorePauses();
  ignoreLead?.();
  await queue.drain();
  // Without the lead, the held resources are the task of another replica that leads, or will.
  const { leads } = deps.role();
  await controller.stop((held) => deps.onHeld(leads ? held : new Map()));
  return remembered;
};

const checksOf = (
  sources: ProberSources,
  { namespaces }: Pick<ConfiguredProberDeps, 'namespaces'>,
): readonly ReadyCheck[] => {
  const { clusters, kubeconfigs, dependents } = sources;
  const caches = [
    { name: 'clusters', ok: clusters.synced, problem: clusters.state().problem },
    { name: 'kubeconfig-secrets', ok: kubeconfigs.synced, problem: kubeconfigs.state().problem },
    ...ownExternalSource(sources).map((source) => ({
      name: 'outside-kubeconfig-secrets',
      ok: source.synced,
      problem: source.state().problem,
    })),
    // A kind that is not served is reported, but the others are protected all the same. The right to what is no longer configured may be missing.
    ...dependents.map((source) => ({
      name: source.key,
      ok: source.restoreOnly || source.store.synced || source.served().kind === 'not-served',
      problem: source.problem(),
    })),
    // Not needed for readiness: without them nobody can pause a shoot, and all are protected.
    { name: 'namespaces', ok: true, problem: namespaces.state().problem },
  ];
  return caches.map(({ name, ok, problem }) => ({ name, ok, detail: problem }));
};
