import { hasActive, ignoresScaling, replicasAnnotation } from '../annotations/scaling-annotations.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { type DependentSources, createWatchRegistry, waitForSync } from '../kubernetes/cache/index.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { createKubeconfigCache, createShootConnector } from '../kubernetes/connection/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { whenAborted } from '../process/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import type { LifecycleDecision } from './clusters/lifecycle.ts';
import { type HostedCluster, watchNamespaces } from './clusters/cluster-source.ts';
import { type ProberSources, createProberSources } from './clusters/sources.ts';
import type { ProberSettings } from './config/settings.ts';
import { ProberController } from './controller.ts';
import { ProbeGate } from './observe/probe-gate.ts';
import { type Emit, emitTo, observer } from './report/events.ts';
import { reportEvents } from './report/report.ts';
import { progressOf } from './report/shown.ts';
import { scalingUnderWay } from './scale/advance-shoot.ts';
import { type HeldResource, type ListHeldOptions, findAllHeld, heldName, listHeld } from './scale/find-held.ts';
import { configuredAs, fillInRef, isAnyHeldFor } from './scale/held.ts';

export interface ReleaseOptions extends ListHeldOptions {
  /** Names of the clusters whose resources are released. */
  readonly clusters: ReadonlySet<string>;
  /** True if nothing is written: the result is what a release would do now. */
  readonly dryRun: boolean;
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

export interface ReleaseResult {
  readonly restored: readonly string[];
  /** Resources at 0 whose count is Gardener's, as in a hibernation, each with the reason. */
  readonly givenBack: readonly string[];
  /** Resources that are still at 0, each with the reason. */
  readonly left: readonly string[];
}

const syncMs = 30_000;
/** Interval at which the clusters are checked that still have held resources, in milliseconds. */
const checkMs = 1_000;
/** Shoots that are restored at the same time. The restoration of a shoot is mostly waiting. */
const maxConcurrentReleases = 50;
/** Wait before the next attempt to restore the resources of a shoot, in milliseconds. */
const retryMs = 3_000;
/** Time to send the Events of the last restorations before the program ends, in milliseconds. */
const lastEventsMs = 10_000;

/**
 * Restores the held resources of clusters with the prober's own controller, for which each of them is to stop, and waits for that. No prober may run meanwhile,
 * because it would scale down again. Rejects with an ApiError, or with the reason of `signal`.
 */
export const releaseHeld = async (options: ReleaseOptions): Promise<ReleaseResult> => {
  const { clock, seed, meter, clusters, signal } = options;
  const { held: all, settings } = await listHeld(options);
  const held = all.filter(({ cluster }) => clusters.has(cluster));
  if (held.length === 0) return { restored: [], givenBack: [], left: [] };
  const client = createKubeClient({ kube: seed, clock });
  const unserved = meter.gauge({ name: 'dwd_release_unserved', help: 'Not shown anywhere.', labels: ['resource'] });
  const watching = { ...options, kube: seed, client, unserved, registry: createWatchRegistry(meter) };
  const namespaces = watchNamespaces(watching);
  const sources = createProberSources(settings, { ...watching, namespaces });
  const closing = new AbortController();
  const watches = [namespaces, sources.clusters, ...sources.dependents].map((source) => source.run(closing.signal));
  try {
    await untilKnown(held, settings, sources, options);
    if (options.dryRun) return foresee(held, sources);
    const failures = await restoreAll(held, { ...options, settings, client, sources });
    const still = (await findAllHeld(settings, { client, signal })).filter(({ cluster }) => clusters.has(cluster));
    const names = new Set(still.map(heldName));
    const judged = still.map((resource) => ({ resource, gardeners: whyGardeners(resource, sources) }));
    return {
      restored: held.map(heldName).filter((name) => !names.has(name)),
      givenBack: judged.flatMap(({ resource, gardeners }) =>
        gardeners === undefined ? [] : [`${heldName(resource)}: ${gardeners}`],
      ),
      left: judged.flatMap(({ resource, gardeners }) =>
        gardeners === undefined ? [explain(resource, whyLeft(resource, settings, failures))] : [],
      ),
    };
  } finally {
    closing.abort(new Error('all is released'));
    await Promise.all(watches);
  }
};

/** Waits until the watches show the clusters and the resources that are held. */
const untilKnown = async (
  held: readonly HeldResource[],
  settings: ProberSettings,
  { clusters, dependents }: ProberSources,
  { clock, signal }: ReleaseOptions,
): Promise<void> => {
  const refs = new Set(held.map((resource) => configuredAs(settings, resource)?.ref));
  const needed = dependents
    .filter(({ ref }) => refs.has(ref))
    .map(({ key, store, problem }) => ({
      name: key,
      whenSynced: (stop: AbortSignal) => store.whenSynced(stop),
      state: () => ({ synced: store.synced, lastError: new Error(problem() ?? 'not listed yet') }),
    }));
  await waitForSync([clusters, ...needed], { clock, timeoutMs: syncMs, signal });
};

/**
 * Returns what a release makes of a cluster: it restores the former counts, but removes only our annotation where the count is Gardener's, as in a hibernation.
 * Whether it is, nobody knows of a Cluster that cannot be decoded: the operator has decided.
 */
const stopOnRequest = (lifecycle: Lifecycle, reason: string): LifecycleDecision => ({
  kind: 'stop',
  releasePolicy: whyGardenersIn(lifecycle) === undefined ? 'restore' : 'release',
  reason,
});

type Lifecycle = HostedCluster['lifecycle'];

/** Error messages of the last attempt to restore the resources of a cluster, by `refKey`; by cluster. */
type Failures = ReadonlyMap<string, ReadonlyMap<string, string>>;

interface Releasing extends ReleaseOptions {
  readonly client: ReturnType<typeof createKubeClient>;
  readonly sources: ProberSources;
}

/** When each cluster is tried next. One whose attempt has failed comes last. */
type Turns = Map<string, number>;

/** Restores what is held, until nothing is left or the deadline has passed. */
const restoreAll = async (held: readonly HeldResource[], options: Releasing): Promise<Failures> => {
  const { clock, random, logger, meter, client, sources, signal, reason, progress } = options;
  const open: Turns = new Map(held.map(({ cluster }) => [cluster, clock.monotonic()]));
  const count = open.size;
  const report = (cluster: string, what = ''): void =>
    progress(`restoring ${cluster}${what}: ${String(open.size)} of ${String(count)} shoots left`);
  const events = createEventRecorder({ clock, random, logger, meter, client, component: 'dependency-watchdog' });
  const failures = new Map<string, ReadonlyMap<string, string>>();
  const emit: Emit = emitTo([
    reportEvents({ clock, logger, meter, events, dryRun: false, leads: () => true }),
    observer({
      'probing-stopped': ({ cluster }) => report(cluster),
      stepped: ({ cluster, readView }) => {
        const reading = { monotonic: clock.monotonic(), wall: clock.now() };
        const awaited = progressOf(scalingUnderWay(readView().state), reading)?.awaited;
        report(cluster, awaited && `, ${awaited.name} ${awaited.why}`);
      },
      'scaling-ended': ({ cluster, scaling }) => {
        const failed = scaling.operations.flatMap(({ key, phase }) =>
          phase.kind === 'failed' ? [[key, phase.error.message] as const] : [],
        );
        failures.set(cluster, new Map(failed));
      },
    }),
  ]);
  const dependents = new Map(sources.dependents.map((source) => [source.key, source]));
  const controller = new ProberController(
    {
      ...options,
      ...{ emit, dependents, dryRun: false, seed: client, identity: options.userAgent, gate: new ProbeGate(clock) },
      connector: createShootConnector({ ...options, known: createKubeconfigCache(options) }),
      source: sources.source,
      kubeconfigs: sources.kubeconfigs,
      isWatchInterrupted: () => false,
      clusters: {
        get: (name) => {
          const { gone } = sources.source;
          const cluster = sources.clusters.get(name) ?? { name, lifecycle: { ok: true, value: gone } as const };
          return { ...cluster, lifecycle: { ok: true, value: stopOnRequest(cluster.lifecycle, reason) } };
        },
      },
      requeueAfter: (cluster, ms) => {
        const isAttempted = ms > 0;
        if (isAttempted && open.delete(cluster)) open.set(cluster, clock.monotonic() + retryMs);
      },
    },
    { clusters: new Set(), memories: new Map() },
  );
  try {
    await restoreInTurn(open, controller, { ...options, dependents });
    await events.flush(lastEventsMs);
    return failures;
  } finally {
    // Once the user cancels, a request in flight is not waited for: the prober is to start again.
    await Promise.race([controller.stop(), whenAborted(signal)]);
    events.stop();
  }
};

/** Starts attempts, so many at the same time, until no cluster is left in `open`. */
const restoreInTurn = async (
  open: Turns,
  controller: ProberController,
  options: Releasing & { readonly dependents: DependentSources },
): Promise<void> => {
  const { clock, signal, deadline } = options;
  const mayRetry = (cluster: string): boolean =>
    clock.monotonic() < deadline && isAnyHeldFor(cluster, options, hasActive);
  while (open.size > 0) {
    const underWay = controller.releasing();
    const due = [...open].filter(([cluster, at]) => at <= clock.monotonic() && !underWay.has(cluster));
    for (const [cluster] of due.slice(0, maxConcurrentReleases - underWay.size)) controller.reconcile(cluster);
    // A shoot may be hibernated meanwhile.
    for (const cluster of underWay) controller.reconcile(cluster);
    await clock.sleep(checkMs, signal);
    const goesOn = controller.releasing();
    for (const cluster of open.keys()) if (!goesOn.has(cluster) && !mayRetry(cluster)) open.delete(cluster);
  }
};

/** Returns why the counts in a cluster are Gardener's: its shoot is hibernated, deleted or migrated. Undefined if we have to restore them. */
const whyGardenersIn = (lifecycle: Lifecycle | undefined): string | undefined => {
  if (lifecycle?.ok !== true || lifecycle.value.kind !== 'stop') return undefined;
  return lifecycle.value.releasePolicy === 'release' ? lifecycle.value.reason : undefined;
};

/** Returns the same for a resource that has lost the annotation. */
const whyGardeners = ({ cluster, annotations }: HeldResource, sources: ProberSources): string | undefined =>
  hasActive({ annotations }) ? undefined : whyGardenersIn(sources.clusters.get(cluster)?.lifecycle);

const whyLeft = (resource: HeldResource, settings: ProberSettings, failures: Failures): string => {
  const { cluster, ref } = resource;
  const untried = whyByHand(resource);
  if (untried !== undefined) return untried;
  const failed = failures.get(cluster);
  const own = failed?.get(refKey(fillInRef(configuredAs(settings, resource)?.ref ?? ref, cluster)));
  const others = [...(failed?.values() ?? [])].join('; ');
  return own ?? (others === '' ? 'timed out' : `a resource before it could not be restored: ${others}`);
};

/**
 * Returns why no prober restores a resource, and how to do it by hand; undefined if a prober restores it. A resource without the annotation is left to the operator
 * unless its shoot is hibernated.
 */
const whyByHand = (resource: HeldResource): string | undefined => {
  if (ignoresScaling(resource)) return 'its annotation ignore-scaling excludes it: scale it by hand';
  if (!hasActive(resource)) {
    return 'it has a stored count but not the annotation meltdown-protection-active: scale it by hand, unless its shoot is hibernated';
  }
  return undefined;
};

/** Describes a resource that is still held: its state, the reason, and the remedy. */
const explain = (resource: HeldResource, why: string): string =>
  `${heldName(resource)} is at ${String(resource.specReplicas)} replicas${formerSuffix(resource)}: ${why}`;

/** Returns the former count, such as `, was 2`; empty if it is not stored. */
export const formerSuffix = ({ annotations }: HeldResource): string => {
  const was = annotations[replicasAnnotation];
  return was === undefined ? '' : `, was ${was}`;
};

/** Predicts the result of a release. */
const foresee = (held: readonly HeldResource[], sources: ProberSources): ReleaseResult => {
  const result = { restored: [] as string[], givenBack: [] as string[], left: [] as string[] };
  for (const resource of held) {
    const { lifecycle } = sources.clusters.get(resource.cluster) ?? {};
    const gardeners = ignoresScaling(resource) ? undefined : whyGardenersIn(lifecycle);
    const untried = whyByHand(resource);
    if (gardeners !== undefined) result.givenBack.push(`${heldName(resource)}: ${gardeners}`);
    else if (untried !== undefined) result.left.push(explain(resource, untried));
    else result.restored.push(heldName(resource));
  }
  return result;
};
