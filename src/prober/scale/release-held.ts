import type { KubeClient } from '../../kubernetes/api/kube.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type ResourceState, isPatchableWorkload, workloadState } from '../../kubernetes/api/scalable.ts';
import { hasMark } from '../../annotations/scaling-annotations.ts';
import { createWatchRegistry, waitForSync } from '../../kubernetes/cache/index.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import { createKubeconfigCache, createShootConnector } from '../../kubernetes/connection/index.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import type { Random } from '../../ports/random.ts';
import { whenAborted } from '../../process/index.ts';
import { createEventRecorder } from '../../telemetry/index.ts';
import { type HeldResource, findHeldOf, heldKey, heldName } from './held.ts';
import { type ListHeldOptions, listHeld } from './list-held.ts';
import { settingsOf } from './release-settings.ts';
import { ProbeGate } from '../observe/probe-gate.ts';
import { type ReleaseResult, explain, whyByHand } from './release-result.ts';
import { type ShootRelease, releasePolicyOnRequest, releaseShoot } from './release-shoot.ts';
import { describeWaiting } from '../report/scaling-progress.ts';
import { type Emit, emitTo, observer } from '../report/events.ts';
import { recordEvents } from '../report/kubernetes-events.ts';
import { logEvents } from '../report/log.ts';
import { type ProberSources, createProberSources } from '../clusters/sources.ts';

export interface ReleaseOptions extends ListHeldOptions {
  /** Names of the clusters whose resources are released. */
  readonly clusters: ReadonlySet<string>;
  /** Reason for the release, for log and Events. */
  readonly reason: string;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly userAgent: string;
  /** Environment of the process, for its proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Monotonic instant after which nothing is retried. */
  readonly deadline: number;
  readonly progress: (line: string) => void;
}

/** Shoots that are restored at the same time. The restoration of a shoot is mostly waiting. */
const maxConcurrentReleases = 50;
const retryMs = 2_000;
const syncMs = 30_000;
/** Time to send the Events of the last restorations before the program ends, in milliseconds. */
const lastEventsMs = 10_000;

/** Returns the observer that notes in `failures` why resources of a shoot could not be restored. */
const noteFailures = (failures: Map<string, string>): Emit =>
  observer({
    'scaling-ended': ({ cluster, scaling }) => {
      for (const { key, phase } of scaling.operations) {
        if (phase.kind === 'failed') failures.set(`${cluster}/${key}`, phase.error.message);
        else failures.delete(`${cluster}/${key}`);
      }
    },
  });

interface Releasing extends ReleaseOptions {
  readonly client: KubeClient;
  readonly sources: ProberSources;
  readonly held: readonly HeldResource[];
  /** Error messages of the latest attempt, by `CLUSTER/KEY` with the `refKey` of the resource. */
  readonly failures: Map<string, string>;
}

/** Returns the policy of a release; undefined if the Cluster cannot be decoded, so that nothing may be released. */
const releasePolicyOf = (cluster: string, sources: ProberSources): ShootRelease['releasePolicy'] | undefined => {
  const { clusters, source } = sources;
  const lifecycle = clusters.get(cluster)?.lifecycle ?? { ok: true, value: source.gone };
  return lifecycle.ok ? releasePolicyOnRequest(lifecycle.value) : undefined;
};

/** True if the resource has as much as its count requires: nothing for 0, else at least one ready pod. */
const isUp = ({ specReplicas, readyReplicas, observed }: ResourceState): boolean =>
  specReplicas === 0 || (observed && readyReplicas >= 1);

/**
 * True if a resource that was held has its count back and no pod is ready yet. It has no mark any more, so the next attempt would not wait for it; but
 * machine-controller-manager must not start before kube-controller-manager.
 */
const isComingUp = (cluster: string, deps: Releasing): boolean =>
  deps.held
    .filter((resource) => resource.cluster === cluster)
    .filter(({ ref }) => isPatchableWorkload(ref))
    .some((resource) => {
      const ref = settingsOf(resource, deps.settings)?.ref;
      const source = deps.sources.dependents.find((one) => one.ref === ref);
      const object = source?.store.get(`${resource.namespace}/${resource.ref.name}`);
      return object !== undefined && !hasMark(object.meta) && !isUp(workloadState(object));
    });

type ShootDeps = Parameters<typeof releaseShoot>[0];

/** Retries until all is released or the deadline has passed. */
const releaseOne = async (cluster: string, deps: Releasing, shootDeps: ShootDeps): Promise<void> => {
  const { clock, sources, signal, deadline, reason } = deps;
  for (;;) {
    const releasePolicy = releasePolicyOf(cluster, sources);
    if (releasePolicy === undefined) return;
    if (!isComingUp(cluster, deps)) {
      // A release in progress is not waited for once the user cancels: the prober is to start again.
      const result = await Promise.race([
        releaseShoot(shootDeps, { cluster, releasePolicy, reason }),
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
  const clusters = [...new Set(deps.held.map((resource) => resource.cluster))].toSorted();
  let left = clusters.length;
  const reportProgress = (cluster: string, what = ''): void =>
    progress(`restoring ${cluster}${what}: ${String(left)} of ${String(clusters.length)} shoots left`);
  const shootDeps: ShootDeps = {
    ...deps,
    seed: client,
    identity: deps.userAgent,
    gate: new ProbeGate(clock),
    dryRun: false,
    emit: emitTo([
      logEvents({ logger, dryRun: false, leads: () => true }),
      recordEvents({ events, leads: () => true }),
      noteFailures(failures),
      observer({ stepped: ({ cluster, state }) => reportProgress(cluster, describeWaiting(state)) }),
    ]),
    connector: createShootConnector({ clock, userAgent: deps.userAgent, known: createKubeconfigCache(deps) }),
    source: sources.source,
    kubeconfigs: sources.kubeconfigs,
    watchesInterruptedMs: () => 0,
    dependents: new Map(sources.dependents.map((source) => [source.key, source])),
  };
  const queue = clusters.values();
  const work = async (): Promise<void> => {
    for (const cluster of queue) {
      reportProgress(cluster);
      await releaseOne(cluster, deps, shootDeps);
      left -= 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(maxConcurrentReleases, clusters.length) }, work));
    await events.flush(lastEventsMs);
  } finally {
    events.stop();
  }
};

const whyLeft = (resource: HeldResource, deps: Releasing): string => {
  const { sources, failures } = deps;
  const { ref } = resource;
  const cluster = resource.cluster;
  const isElsewhere = settingsOf(resource, deps.settings)?.ref.namespace !== undefined;
  const key = refKey(isElsewhere ? { ...ref, namespace: resource.namespace } : ref);
  const lifecycle = sources.clusters.get(cluster)?.lifecycle;
  const byHand = whyByHand(resource);
  if (byHand !== undefined) return byHand;
  if (lifecycle?.ok === false) return `its Cluster cannot be read: ${lifecycle.error.message}`;
  const failed = failures.get(`${cluster}/${key}`);
  if (failed !== undefined) return failed;
  const others = [...failures].filter(([key]) => key.startsWith(`${cluster}/`)).map(([, message]) => message);
  return `a resource before it could not be restored: ${others.join('; ') || 'timed out'}`;
};

/** True if we have to restore the resource. Without the mark, the count in a shoot that is hibernated, deleted or migrated is Gardener's. */
const isOurs = (resource: HeldResource, deps: Releasing): boolean =>
  hasMark(resource.state) || releasePolicyOf(resource.cluster, deps.sources) !== 'release';

const untilKnown = async (deps: Releasing): Promise<void> => {
  const { sources, held, clock, signal } = deps;
  const refs = new Set(held.map((resource) => settingsOf(resource, deps.settings)?.ref));
  const needed = sources.dependents
    .filter(({ ref }) => refs.has(ref))
    .map(({ key, store, problem }) => ({
      name: key,
      whenSynced: (stop: AbortSignal) => store.whenSynced(stop),
      state: () => ({ synced: store.synced, lastError: new Error(problem() ?? 'not listed yet') }),
    }));
  await waitForSync([sources.clusters, ...needed], { clock, timeoutMs: syncMs, signal });
};

const restore = async (deps: Releasing): Promise<ReleaseResult> => {
  const { client, signal, held } = deps;
  await untilKnown(deps);
  await releaseAll(deps);
  const refs = held.map(({ ref }) => ref);
  const { clusters } = deps;
  const stillHeld = (await findHeldOf({ client, refs, signal }))
    .filter((resource) => clusters.has(resource.cluster))
    .filter((resource) => isOurs(resource, deps));
  const stillHeldKeys = new Set(stillHeld.map(heldKey));
  return {
    restored: held.filter((resource) => !stillHeldKeys.has(heldKey(resource))).map(heldName),
    left: stillHeld.map((resource) => explain(resource, whyLeft(resource, deps))),
  };
};

/**
 * Restores the held resources of clusters, each shoot in the order of its levels, with the code of the prober, and waits for them. No prober may run meanwhile,
 * because it would scale down again. Rejects with an ApiError, or with the reason of `signal`.
 */
export const releaseHeld = async (options: ReleaseOptions): Promise<ReleaseResult> => {
  const { clock, seed, meter, logger, clusters } = options;
  const { held: all, settings } = await listHeld(options);
  const held = all.filter((resource) => clusters.has(resource.cluster));
  if (held.length === 0) return { restored: [], left: [] };
  const client = createKubeClient({ kube: seed, clock });
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
