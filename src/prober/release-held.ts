import type { ClusterView } from '../gardener/cluster.ts';
import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { type ResourceState, isHeld, scalesInOneWrite, workloadState } from '../kubernetes/api/scalable.ts';
import { createWatchRegistry, waitForSync } from '../kubernetes/cache/index.ts';
import { createKubeClient, mergedAbortSignal } from '../kubernetes/client/index.ts';
import { createShootConnector } from '../kubernetes/connection/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { whenAborted } from '../process/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import { createApiServers } from './api-servers.ts';
import { type HeldResource, findHeld, findHeldOf, heldKey, heldName } from './held.ts';
import { type ReleaseResult, explain, whyByHand } from './release-result.ts';
import { type ShootRelease, releasePolicyOnRequest, releaseShoot } from './release-shoot.ts';
import { type ProberReport, createProberReport } from './report.ts';
import type { DependentResource, ProberSettings } from './settings.ts';
import { type ProberSources, createProberSources } from './sources.ts';

export interface ReleaseOptions {
  /** Of the prober whose resources are released: what is restored, and in which order. What else is held comes last. */
  readonly settings: ProberSettings;
  /** Told in log and Events. */
  readonly reason: string;
  readonly seed: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly userAgent: string;
  /** Monotonic instant after which nothing is tried again. */
  readonly deadline: number;
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** As the largest seed's informers: a shoot's restoration is mostly waiting. */
const atOnce = 50;
const retryMs = 2_000;
const syncMs = 30_000;
const lastTimeoutMs = 60_000;

/** What is held though no configuration names it is restored after all others. */
const withUnconfigured = (settings: ProberSettings, held: readonly HeldResource[]): ProberSettings => {
  const named = new Set(settings.dependentResources.map(({ ref }) => refKey(ref)));
  const level = Math.max(0, ...settings.dependentResources.map(({ scaleUp }) => scaleUp.level)) + 1;
  const scaleUp = { level, initialDelayMs: 0, timeoutMs: lastTimeoutMs };
  const others = new Map(held.filter(({ ref }) => !named.has(refKey(ref))).map(({ ref }) => [refKey(ref), ref]));
  const added = [...others.values()].map(
    (ref): DependentResource => ({ ref, scaleUp, optional: true, onlyWhereHeld: true }),
  );
  return { ...settings, dependentResources: [...settings.dependentResources, ...added] };
};

/** What is found out about why a shoot's resources do not come up. */
const withFailures = (report: ProberReport, failures: Map<string, string>): ProberReport => ({
  ...report,
  flowEnded: (namespace, ended) => {
    for (const { key, phase } of ended.flow.operations) {
      if (phase.kind === 'failed') failures.set(`${namespace}/${key}`, phase.error.message);
      else failures.delete(`${namespace}/${key}`);
    }
    report.flowEnded(namespace, ended);
  },
});

interface Releasing extends ReleaseOptions {
  readonly client: KubeClient;
  readonly sources: ProberSources;
  readonly held: readonly HeldResource[];
  /** By `heldKey`, of the latest try. */
  readonly failures: Map<string, string>;
}

/** Undefined: nothing may be done, because nobody can tell what its Cluster says. */
const releasePolicyOf = (view: ClusterView | undefined): ShootRelease['releasePolicy'] | undefined => {
  const shoot = view?.shoot;
  return shoot?.ok === false ? undefined : releasePolicyOnRequest(shoot?.value);
};

/** As far as it is to be. */
const isUp = ({ specReplicas, readyReplicas, observed }: ResourceState): boolean =>
  specReplicas === 0 || (observed && readyReplicas >= 1);

/**
 * True if something that was held has its count back and no pod is ready yet. It carries no mark any more, so that the next try would not
 * wait for it: machine-controller-manager must not come before kube-controller-manager.
 */
const isComingUp = (namespace: string, { held, sources }: Releasing): boolean =>
  held
    .filter((resource) => resource.namespace === namespace && scalesInOneWrite(resource.ref))
    .some(({ ref }) => {
      const source = sources.dependents.find(({ key }) => key === refKey(ref));
      const object = source?.store.get(`${namespace}/${ref.name}`);
      return object !== undefined && !isHeld(object.meta) && !isUp(workloadState(object));
    });

type ShootDeps = Parameters<typeof releaseShoot>[0];

/** Tries until it is done, or the time is up. */
const releaseOne = async (namespace: string, deps: Releasing, shootDeps: ShootDeps): Promise<void> => {
  const { clock, sources, signal, deadline, reason } = deps;
  for (;;) {
    const releasePolicy = releasePolicyOf(sources.clusters.get(namespace));
    if (releasePolicy === undefined) return;
    if (!isComingUp(namespace, deps)) {
      // What is under way is not waited for when the user has had enough: the prober is to run again.
      const result = await Promise.race([
        releaseShoot(shootDeps, { namespace, releasePolicy, reason }),
        whenAborted(signal),
      ]);
      signal.throwIfAborted();
      if (result === 'done') return;
    }
    if (clock.monotonic() >= deadline) return;
    await clock.sleep(retryMs, signal);
  }
};

const releaseAll = async (deps: Releasing): Promise<void> => {
  const { clock, sources, failures, client, logger, meter, random, progress } = deps;
  const events = createEventRecorder({ clock, random, logger, meter, client, component: 'dependency-watchdog' });
  const shootDeps: ShootDeps = {
    ...deps,
    seed: client,
    dryRun: false,
    report: withFailures(createProberReport({ logger, meter, events, dryRun: false }), failures),
    connector: createShootConnector({ clock, userAgent: deps.userAgent }),
    kubeconfigs: sources.kubeconfigs,
    apiServers: createApiServers(sources.apiServers, clock),
    seedAwayMs: () => 0,
    dependents: new Map(sources.dependents.map((source) => [source.key, source])),
  };
  const namespaces = [...new Set(deps.held.map(({ namespace }) => namespace))].toSorted();
  const queue = namespaces.values();
  const until = mergedAbortSignal(deps.signal);
  let left = namespaces.length;
  const work = async (): Promise<void> => {
    for (const namespace of queue) {
      progress(`restoring what is held in ${namespace}: ${String(left)} of ${String(namespaces.length)} shoots to go`);
      await until((signal) => releaseOne(namespace, { ...deps, signal }, shootDeps));
      left -= 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, namespaces.length) }, work));
};

const whyLeft = (resource: HeldResource, { sources, failures }: Releasing): string => {
  const { namespace, ref } = resource;
  const cluster = sources.clusters.get(namespace)?.shoot;
  const byHand = whyByHand(resource);
  if (byHand !== undefined) return byHand;
  if (cluster?.ok === false) return `its Cluster cannot be read: ${cluster.error.message}`;
  const failed = failures.get(`${namespace}/${refKey(ref)}`);
  if (failed !== undefined) return failed;
  const others = [...failures].filter(([key]) => key.startsWith(`${namespace}/`)).map(([, message]) => message);
  return `what comes before it could not be restored: ${others.join('; ') || 'out of time'}`;
};

/** A count in a shoot that is hibernated, deleted or migrated is Gardener's. */
const isOurs = ({ namespace, state }: HeldResource, { clusters }: ProberSources): boolean =>
  isHeld(state) || releasePolicyOf(clusters.get(namespace)) !== 'release';

const untilKnown = async ({ sources, held, clock, signal }: Releasing): Promise<void> => {
  const keys = new Set(held.map(({ ref }) => refKey(ref)));
  const needed = sources.dependents
    .filter(({ key }) => keys.has(key))
    .map(({ key, store, problem }) => ({
      name: key,
      whenSynced: (stop: AbortSignal) => store.whenSynced(stop),
      state: () => ({ synced: store.synced, lastError: new Error(problem() ?? 'not listed yet') }),
    }));
  await waitForSync([sources.clusters, ...needed], { clock, timeoutMs: syncMs, signal });
};

const restore = async (deps: Releasing): Promise<ReleaseResult> => {
  const { sources, client, signal, held } = deps;
  await untilKnown(deps);
  await releaseAll(deps);
  const refs = held.map(({ ref }) => ref);
  const now = (await findHeldOf({ client, refs, signal })).filter((resource) => isOurs(resource, sources));
  const still = new Set(now.map(heldKey));
  return {
    restored: held.filter((resource) => !still.has(heldKey(resource))).map(heldName),
    left: now.map((resource) => explain(resource, whyLeft(resource, deps))),
  };
};

/** All that is held in a seed, by name. Rejects with an ApiError. */
export const listHeld = async ({
  settings,
  seed,
  clock,
  signal,
}: Pick<ReleaseOptions, 'settings' | 'seed' | 'clock' | 'signal'>): Promise<readonly HeldResource[]> => {
  const refs = settings.dependentResources.map(({ ref }) => ref);
  return findHeld({ client: createKubeClient({ kube: seed, clock }), refs, signal });
};

/**
 * Restores all that is held in a seed, each shoot in the order of its levels, by the code of the prober, and waits for it. No prober may run meanwhile: it
 * would scale down again. Rejects with an ApiError, or with the reason of `signal`.
 */
export const releaseHeld = async (options: ReleaseOptions): Promise<ReleaseResult> => {
  const { clock, seed, meter, logger } = options;
  const held = await listHeld(options);
  if (held.length === 0) return { restored: [], left: [] };
  const client = createKubeClient({ kube: seed, clock });
  const settings = withUnconfigured(options.settings, held);
  const unserved = meter.gauge({ name: 'dwd_release_unserved', help: 'Not shown anywhere.', labels: ['resource'] });
  const watching = { ...options, logger, kube: seed, client, unserved, registry: createWatchRegistry(meter) };
  const sources = createProberSources(settings, watching);
  const closing = new AbortController();
  const watches = [sources.clusters, ...sources.dependents].map((source) => source.run(closing.signal));
  try {
    return await restore({ ...options, settings, client, sources, held, failures: new Map() });
  } finally {
    closing.abort(new Error('all is released'));
    await Promise.all(watches);
  }
};
