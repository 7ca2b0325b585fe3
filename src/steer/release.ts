import type { Pause } from '../gardener/pause.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import {
  type ClusterCommand,
  type CommandContext,
  type CommandFailure,
  CommandProblem,
  callOptions,
  installedConfiguration,
  onCluster,
} from '../install/index.ts';
import {
  type HeldResource,
  clusterOfHeld,
  foreseeRelease,
  heldName,
  listHeldOf,
  releaseHeld,
  sharesNamespaces,
  wasOf,
} from '../prober/held/index.ts';
import { type ProberSettings, placeOf } from '../prober/index.ts';
import { systemRandom, whenAborted } from '../process/index.ts';
import { type LeaderAnswer, askLeader } from '../status/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { listPauses, listSharing, whoSteers, writePause } from './namespaces.ts';
import { type HeldInCluster, type ShootOutage, judgeOutages, stillInOutage } from './outages.ts';
import type { SteerTarget } from './pause.ts';
import { findShoot } from './shoots.ts';

export interface ReleaseRun extends ClusterCommand, SteerTarget {
  /** What is restored, in which order. Absent: what is installed. */
  readonly settings?: ProberSettings | undefined;
  readonly dryRun: boolean;
  /** Releases also what is held for an outage that goes on. */
  readonly despiteOutage: boolean;
  /** Which prober is asked whether the outage goes on. */
  readonly leader: {
    /** Label selector of its pods. */
    readonly selector: string;
    /** Where it answers, in place of the pod proxy. */
    readonly leaderUrl?: URL | undefined;
    /** How long it may take to answer, in milliseconds. */
    readonly leaderTimeoutMs: number;
  };
  /** Asks the operator. */
  readonly confirm: (question: ReleaseQuestion) => Promise<boolean>;
}

/** What an operator must know before something is released, a line each. */
export interface ReleaseQuestion {
  /** Whose order it is in which things are restored, a line; absent: that of the configuration that was given. */
  readonly order?: string | undefined;
  readonly held: readonly string[];
  /** Of each shoot, whether its outage goes on, and how that is known. */
  readonly outages: readonly string[];
}

export interface ReleaseReport {
  /** `declined`: the operator does not want it after all. */
  readonly outcome: 'nothing-held' | 'declined' | 'released' | 'dry-run';
  /** Of a dry run, as in the question. */
  readonly order?: string | undefined;
  readonly restored: readonly string[];
  /** What is still at 0, or annotated, and why. */
  readonly left: readonly string[];
  /** Names of the shoots that are paused meanwhile: their namespaces, or `NAMESPACE/CLUSTER`. */
  readonly paused: readonly string[];
  /** Of a dry run: of each shoot, whether its outage goes on. Else: shoots whose outage goes on afterwards. A line each. */
  readonly outages: readonly string[];
}

/** Of a shoot that is released, so that a prober does not undo it. */
const releasePauseMs = 600_000;
/** A prober that runs has heard of a pause by then. */
const heardMs = 2_000;
/** Of a request for the Lease and the pods of the prober. */
const askTimeoutMs = 10_000;

const reason = 'released by an operator';

/** `paused` takes the names of those that it has paused. */
const pauseEach = async (
  clusters: Iterable<string>,
  { run, paused }: { readonly run: ReleaseRun; readonly paused: string[] },
  context: CommandContext,
): Promise<void> => {
  const by = await whoSteers(context, run);
  const until = Math.ceil((context.clock.now() + releasePauseMs) / 1_000) * 1_000;
  const pause: Pause = { until, reason, by };
  const before = await listPauses(context);
  for (const cluster of clusters) {
    const { until: already = Number.POSITIVE_INFINITY } = before.get(cluster) ?? { until: 0 };
    if (already >= until) continue;
    await writePause(cluster, pause, context);
    paused.push(cluster);
  }
  await context.clock.sleep(heardMs, context.signal);
};

const lineOf = (resource: HeldResource): string => {
  const { annotation } = resource.state;
  const how = annotation === undefined ? '' : `, annotated with ${annotation.key}`;
  return `${heldName(resource)}${how}${wasOf(resource)}`;
};

/** Who stops the command while it asks wants nothing done. Rejects with the reason of the signal. */
const isConfirmed = async (question: ReleaseQuestion, { confirm }: ReleaseRun, signal: AbortSignal) => {
  const answer = await Promise.race([confirm(question), whenAborted(signal)]);
  signal.throwIfAborted();
  return answer === true;
};

const refusal = 'nothing was released: an outage goes on, and protection would be taken from its nodes';

/** Throws a CommandProblem where the outage of a shoot goes on, by what is known. */
const refuseInOutage = (outages: readonly ShootOutage[]): void => {
  const going = outages.filter(({ goesOn }) => goesOn);
  if (going.length === 0) return;
  throw new CommandProblem(refusal, [
    ...going.map(({ words }) => words),
    'what is held comes back by itself when its nodes renew their leases; to release it nevertheless: --despite-outage',
  ]);
};

interface Releasing {
  readonly order: string | undefined;
  readonly context: CommandContext;
  readonly askProber: () => Promise<LeaderAnswer>;
  /** By their names. */
  readonly release: (clusters: ReadonlySet<string>) => Promise<Pick<ReleaseReport, 'restored' | 'left'>>;
  /** Takes the names of the shoots that it pauses. */
  readonly paused: string[];
}

/** Asks, pauses, restores, and looks how the shoots are afterwards. */
const releaseFound = async (
  run: ReleaseRun,
  held: readonly HeldInCluster[],
  { context, order, askProber, release, paused }: Releasing,
): Promise<ReleaseReport> => {
  const { dryRun, despiteOutage } = run;
  const outages = judgeOutages({ held, leader: await askProber(), now: context.clock.now() });
  const words = outages.map((outage) => outage.words);
  if (dryRun) return { ...foreseeRelease(held), order, paused: [], outages: words, outcome: 'dry-run' };
  if (!despiteOutage) refuseInOutage(outages);
  if (!(await isConfirmed({ order, held: held.map(lineOf), outages: words }, run, context.signal))) {
    return { ...nothing, outcome: 'declined' };
  }
  const clusters = new Set(held.map(({ cluster }) => cluster));
  await pauseEach(clusters, { run, paused }, context);
  const released = await release(clusters);
  const after = stillInOutage(await askProber(), clusters);
  return { ...released, paused: [...clusters].toSorted(), outages: after, outcome: 'released' };
};

/** The settings by which things are restored, and whose they are where none were given. */
const orderOf = async (
  { settings, home }: ReleaseRun,
  context: CommandContext,
): Promise<{ readonly settings: ProberSettings; readonly order?: string }> => {
  if (settings !== undefined) return { settings };
  const installed = await installedConfiguration(home, { ...context, options: callOptions(context) });
  const whose = installed.isInstalled
    ? `in the order of the configuration that is installed in ${home}`
    : `in Gardener's own order: nothing that dwd install has installed was found in ${home}`;
  return { settings: installed.settings, order: `${whose} (another: --config-file)` };
};

/** Clusters of Cluster API, by whose names it is told whose a resource is. */
const knownClusters = async (settings: ProberSettings, context: CommandContext): Promise<(name: string) => boolean> => {
  const clusters = sharesNamespaces(settings) ? await listSharing(context) : [];
  const names = new Set(clusters.map(({ name }) => name));
  return (name) => names.has(name);
};

const nothing = { restored: [], left: [], paused: [], outages: [] };

/** Of a release that has failed half-way. */
const stillPaused = (cluster: string): string =>
  `${cluster}: paused for up to 10 minutes; dwd resume --shoot ${cluster} ends that`;

/** `dwd release`: restores what is held, each shoot in the order of its levels, by the code of the prober. */
export const runRelease = async (run: ReleaseRun): Promise<Result<ReleaseReport, CommandFailure>> => {
  const paused: string[] = [];
  const result = await onCluster<ReleaseReport>(run, async ({ context, kube: seed, userAgent }) => {
    const { shoot, home, logger } = run;
    const { settings, order } = await orderOf(run, context);
    const only = shoot === undefined ? undefined : (await findShoot(shoot, context)).namespace;
    const owners = { settings, isKnown: await knownClusters(settings, context) };
    const all = await listHeldOf({ ...context, seed, ...owners });
    const held = all
      .map((resource): HeldInCluster => ({ ...resource, cluster: clusterOfHeld(owners, resource) }))
      .filter(({ cluster }) => only === undefined || [cluster, placeOf(cluster).namespace].includes(only));
    if (held.length === 0) return { ...nothing, outcome: 'nothing-held' };
    const common = { random: systemRandom(), meter: createMeter(), logger, userAgent, reason };
    const query = { ...run.leader, timeoutMs: askTimeoutMs, stop: context.signal, namespace: home };
    return releaseFound(run, held, {
      context,
      order,
      paused,
      askProber: () => askLeader(query, { ...context, userAgent }),
      release: (clusters) => releaseHeld({ ...context, ...common, seed, ...owners, clusters }),
    });
  });
  if (result.ok) return result;
  const { message, details } = result.error;
  return { ok: false, error: { message, details: [...details, ...paused.map(stillPaused)] } };
};
