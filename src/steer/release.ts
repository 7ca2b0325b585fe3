import type { Pause } from '../annotations/pause.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import {
  type ClusterCommand,
  type CommandContext,
  type CommandFailure,
  CommandProblem,
  callOptions,
  onCluster,
  systemRandom,
  whenAborted,
} from '../process/index.ts';
import {
  type HeldResource,
  heldName,
  listHeld,
  releaseHeld,
  formerSuffix,
  type ProberSettings,
} from '../prober/index.ts';
import { type LeaderAnswer, askLeader, installedConfiguration } from '../status/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { listPauses, currentUser, writePause } from './namespaces.ts';
import { type ShootOutage, judgeOutages, stillInOutage } from './outages.ts';
import type { SteerTarget } from './pause.ts';
import { findNamedShoot } from './shoots.ts';

export interface ReleaseRun extends ClusterCommand, SteerTarget {
  /** Configuration of the resources to restore, and their order. Absent: the installed one. */
  readonly settings?: ProberSettings | undefined;
  readonly dryRun: boolean;
  /** True if resources are released even though their outage goes on. */
  readonly despiteOutage: boolean;
  /** Prober that reports whether the outage goes on. */
  readonly leader: {
    /** Label selector of its pods. */
    readonly selector: string;
    /** Its address, used in place of the pod proxy. */
    readonly leaderUrl?: URL | undefined;
    /** Timeout of requests to it, in milliseconds. */
    readonly leaderTimeoutMs: number;
  };
  /** Asks the operator for confirmation. */
  readonly confirm: (question: ReleaseQuestion) => Promise<boolean>;
}

/** Facts for the operator to confirm a release, a line each. */
export interface ReleaseQuestion {
  /** Origin of the order of restoration. Absent if a configuration was given. */
  readonly order?: string | undefined;
  readonly held: readonly string[];
  /** State of each shoot's outage, with the evidence. */
  readonly outages: readonly string[];
}

export interface ReleaseReport {
  /** `declined` if the operator did not confirm. */
  readonly outcome: 'nothing-held' | 'declined' | 'released' | 'dry-run';
  /** Same as in the question. Only in a dry run. */
  readonly order?: string | undefined;
  readonly restored: readonly string[];
  /** Resources at 0 whose count is Gardener's, as in a hibernation, and why. */
  readonly givenBack: readonly string[];
  /** Resources that are still at 0, and why. */
  readonly left: readonly string[];
  /** Shoots that are paused for the release, by namespace. */
  readonly paused: readonly string[];
  /** In a dry run, the state of each shoot's outage. Else, the shoots whose outage goes on after the release. A line each. */
  readonly outages: readonly string[];
}

/** Pause of a released shoot, so that a prober does not scale it down again. */
const releasePauseMs = 600_000;
/** A running prober has observed a pause after this time. */
const heardMs = 2_000;
/** Timeout of the requests for the Lease and the pods of the prober. */
const askTimeoutMs = 10_000;

const reason = 'released by an operator';

/** Pauses the clusters that are not yet paused for as long, and adds their names to `paused`. */
const pauseEach = async (
  clusters: Iterable<string>,
  { run, paused }: { readonly run: ReleaseRun; readonly paused: string[] },
  context: CommandContext,
): Promise<void> => {
  const by = await currentUser(context, run);
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

const lineOf = (resource: HeldResource): string => `${heldName(resource)}${formerSuffix(resource)}`;

/** Returns true if the operator confirms. Rejects with the signal's reason if the command is stopped meanwhile. */
const isConfirmed = async (question: ReleaseQuestion, { confirm }: ReleaseRun, signal: AbortSignal) => {
  const answer = await Promise.race([confirm(question), whenAborted(signal)]);
  signal.throwIfAborted();
  return answer === true;
};

const refusal = 'nothing was released: a release in an outage ends the protection of its nodes';

/** Throws a CommandProblem if an outage continues, or may while a leader is at work. */
const refuseInOutage = (outages: readonly ShootOutage[]): void => {
  const going = outages.filter(({ isRefused }) => isRefused);
  if (going.length === 0) return;
  throw new CommandProblem(refusal, [
    ...going.map(({ words }) => words),
    'the prober restores the held resources when the nodes renew their leases; to release them nevertheless: --despite-outage',
  ]);
};

interface Releasing {
  readonly order: string | undefined;
  readonly context: CommandContext;
  readonly askProber: () => Promise<LeaderAnswer>;
  /** Restores the clusters with these names. */
  readonly release: (clusters: ReadonlySet<string>) => Promise<Pick<ReleaseReport, 'restored' | 'givenBack' | 'left'>>;
  /** Names of the shoots that the release has paused; it adds to them. */
  readonly paused: string[];
}

/** Asks for confirmation, pauses, restores, and reads the state of the shoots afterwards. */
const releaseFound = async (
  run: ReleaseRun,
  held: readonly HeldResource[],
  { context, order, askProber, release, paused }: Releasing,
): Promise<ReleaseReport> => {
  const { dryRun, despiteOutage } = run;
  const outages = judgeOutages({ held, leader: await askProber(), now: context.clock.now() });
  const words = outages.map((outage) => outage.words);
  const clusters = new Set(held.map(({ cluster }) => cluster));
  if (dryRun) return { ...(await release(clusters)), order, paused: [], outages: words, outcome: 'dry-run' };
  if (!despiteOutage) refuseInOutage(outages);
  if (!(await isConfirmed({ order, held: held.map(lineOf), outages: words }, run, context.signal))) {
    return { ...nothing, outcome: 'declined' };
  }
  await pauseEach(clusters, { run, paused }, context);
  const released = await release(clusters);
  const after = stillInOutage(await askProber(), clusters);
  return { ...released, paused: [...clusters].toSorted(), outages: after, outcome: 'released' };
};

/** Returns the settings for the restoration and, if none were given, the origin of their order. */
const orderOf = async (
  { settings, home }: ReleaseRun,
  context: CommandContext,
): Promise<{ readonly settings: ProberSettings; readonly order?: string }> => {
  if (settings !== undefined) return { settings };
  const installed = await installedConfiguration(home, { ...context, options: callOptions(context) });
  const whose = installed.isInstalled
    ? `order: as in the configuration that is installed in ${home}`
    : `order: as in Gardener's configuration, because none is installed in ${home}`;
  return { settings: installed.settings, order: `${whose} (to use another: --config-file)` };
};

const nothing = { restored: [], givenBack: [], left: [], paused: [], outages: [] };

/** Formats a shoot that a failed release leaves paused. */
const stillPaused = (cluster: string): string =>
  `${cluster}: paused for up to 10 minutes; dwd resume --shoot ${cluster} ends that`;

/** Runs `dwd release`: restores held resources with the prober's own code, those of each shoot in the order of their levels. */
export const runRelease = async (run: ReleaseRun): Promise<Result<ReleaseReport, CommandFailure>> => {
  const paused: string[] = [];
  const result = await onCluster<ReleaseReport>(run, async (context) => {
    const { kube: seed, userAgent } = context;
    const { shoot, home, logger, env, dryRun } = run;
    const { settings: ordered, order } = await orderOf(run, context);
    const only = shoot === undefined ? undefined : (await findNamedShoot(shoot, context)).namespace;
    const { held: all, settings } = await listHeld({ ...context, seed, settings: ordered });
    const held = all.filter(({ cluster }) => only === undefined || cluster === only);
    if (held.length === 0) return { ...nothing, outcome: 'nothing-held' };
    const common = { random: systemRandom(), meter: createMeter(), logger, userAgent, env, dryRun, reason };
    const query = { ...run.leader, timeoutMs: askTimeoutMs, stop: context.signal, namespace: home };
    return releaseFound(run, held, {
      context,
      order,
      paused,
      askProber: () => askLeader(query, context),
      release: (clusters) => releaseHeld({ ...context, ...common, seed, settings, clusters }),
    });
  });
  if (result.ok) return result;
  const { message, details } = result.error;
  return { ok: false, error: { message, details: [...details, ...paused.map(stillPaused)] } };
};
