import type { Pause } from '../annotations/pause.ts';
import { type CommandContext, CommandError, onCluster, systemRandom, whenAborted } from '../process/index.ts';
import {
  type HeldResource,
  type ReleaseResult,
  heldName,
  listHeld,
  releaseHeld,
  formerSuffix,
  type ProberSettings,
} from '../prober/index.ts';
import {
  type LeaderAnswer,
  type LeaderQuery,
  askLeader,
  installedConfiguration,
  isNoSeed,
  noSeed,
  readNamespaces,
  readSeedObjects,
} from '../status/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { currentUser, writePause } from './namespaces.ts';
import { type ShootOutage, judgeOutages, stillInOutage } from './outages.ts';
import type { ResumeRun } from './pause.ts';
import { findNamedShoot } from './shoots.ts';

export interface ReleaseRun extends ResumeRun, Pick<LeaderQuery, 'selector' | 'leaderTimeoutMs'> {
  /** Configuration of the resources to restore, and their order. Absent: the installed one. */
  readonly settings?: ProberSettings;
  readonly dryRun: boolean;
  /** True if resources are released even though their outage goes on. */
  readonly despiteOutage: boolean;
  /** Shows the operator these lines, and asks for confirmation. */
  readonly confirm: (lines: readonly string[]) => Promise<boolean>;
}

export interface ReleaseReport {
  /** What was done, and what the operator has to know, a line each. */
  readonly lines: readonly string[];
  /** False if a resource is still held, or if the operator did not confirm. */
  readonly isDone: boolean;
}

/** Pause of a released shoot, so that a prober does not scale it down again. */
const releasePauseMs = 600_000;
/** A running prober has observed a pause after this time. */
const heardMs = 2_000;

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
  const { paused: before } = await readNamespaces(context);
  for (const cluster of clusters) {
    const { until: already = Number.POSITIVE_INFINITY } = before.get(cluster) ?? { until: 0 };
    if (already >= until) continue;
    await writePause(cluster, pause, context);
    paused.push(cluster);
  }
  await context.clock.sleep(heardMs, context.signal);
};

/** Returns true if the operator confirms. Rejects with the signal's reason if the command is stopped meanwhile. */
const isConfirmed = async (lines: readonly string[], { confirm }: ReleaseRun, signal: AbortSignal) => {
  const answer = await Promise.race([confirm(lines), whenAborted(signal)]);
  signal.throwIfAborted();
  return answer === true;
};

const refusal = 'nothing was released: a release in an outage ends the protection of its nodes';

/** Throws a CommandError if an outage continues, or may while a leader is at work. */
const refuseInOutage = (outages: readonly ShootOutage[]): void => {
  const going = outages.filter(({ isRefused }) => isRefused);
  if (going.length === 0) return;
  throw new CommandError(refusal, [
    ...going.map(({ words }) => words),
    'the prober restores the held resources when the nodes renew their leases; to release them nevertheless: --despite-outage',
  ]);
};

const linesOfResult = ({ restored, givenBack, left }: ReleaseResult, isDryRun: boolean): readonly string[] => [
  ...restored.map((name) => `${isDryRun ? 'would restore' : 'restored'} ${name}`),
  ...givenBack.map((line) => `${isDryRun ? 'would give back' : 'given back'} to its owner at 0: ${line}`),
  ...left.map((line) => `still held: ${line}`),
];

/** Says that a shoot is paused by a release, which may have failed. */
const pausedInWords = (cluster: string): string =>
  `${cluster}: paused for 10 minutes; dwd resume --shoot ${cluster} ends that`;

/** Returns the settings for the restoration and, if none were given, the origin of their order. */
const orderOf = async (
  { settings, namespace }: ReleaseRun,
  context: CommandContext,
): Promise<{ readonly settings: ProberSettings; readonly order: readonly string[] }> => {
  if (settings !== undefined) return { settings, order: [] };
  const installed = await installedConfiguration(namespace, context);
  const whose = installed.isInstalled
    ? `order: as in the configuration that is installed in ${namespace}`
    : `order: as in Gardener's configuration, because none is installed in ${namespace}`;
  return { settings: installed.settings, order: [`${whose} (to use another: --config-file)`] };
};

/** What is to be released, and how. */
interface Release {
  readonly held: readonly HeldResource[];
  readonly order: readonly string[];
  readonly askProber: () => Promise<LeaderAnswer>;
  readonly restore: () => Promise<ReleaseResult>;
}

/** Finds what is held; undefined if nothing is. Throws a CommandError if this is no seed. */
const findRelease = async (run: ReleaseRun, context: CommandContext): Promise<Release | undefined> => {
  const { kube: seed } = context;
  const { shoot, logger, env, dryRun } = run;
  const { settings: ordered, order } = await orderOf(run, context);
  const only = shoot === undefined ? undefined : (await findNamedShoot(shoot, context)).namespace;
  const { held: all, settings } = await listHeld({ ...context, seed, settings: ordered });
  const held = all.filter(({ cluster }) => only === undefined || cluster === only);
  if (held.length === 0) {
    if (run.settings !== undefined) return undefined;
    if (await isNoSeed(await readSeedObjects(run, context), run, context)) throw new CommandError(noSeed);
    return undefined;
  }
  const clusters = new Set(held.map(({ cluster }) => cluster));
  const ports = { random: systemRandom(), meter: createMeter(), logger, env };
  return {
    held,
    order,
    askProber: () => askLeader({ ...run, shoot: undefined }, context),
    restore: () => releaseHeld({ ...context, ...ports, seed, settings, clusters, dryRun, reason }),
  };
};

/** Asks for confirmation, pauses, restores, and reads the state of the shoots afterwards. Adds the names of the paused shoots to `paused`. */
const release = async (run: ReleaseRun, context: CommandContext, paused: string[]): Promise<ReleaseReport> => {
  const found = await findRelease(run, context);
  if (found === undefined) return { lines: ['nothing is held'], isDone: true };
  const { held, order, askProber, restore } = found;
  const outages = judgeOutages({ held, leader: await askProber(), now: context.clock.now() });
  const words = outages.map((outage) => outage.words);
  if (run.dryRun) {
    const foreseen = await restore();
    const lines = [...order, ...linesOfResult(foreseen, true), ...words, 'nothing was changed'];
    return { lines, isDone: foreseen.left.length === 0 };
  }
  if (!run.despiteOutage) refuseInOutage(outages);
  const named = held.map((resource) => `${heldName(resource)}${formerSuffix(resource)}`);
  if (!(await isConfirmed([...order, ...named, ...words], run, context.signal))) {
    return { lines: ['nothing was changed'], isDone: false };
  }
  const clusters = new Set(held.map(({ cluster }) => cluster));
  await pauseEach(clusters, { run, paused }, context);
  const result = await restore();
  const after = stillInOutage(await askProber(), clusters);
  const lines = [...linesOfResult(result, false), ...paused.map(pausedInWords), ...after];
  return { lines, isDone: result.left.length === 0 };
};

/** Runs `dwd release`: restores held resources with the prober's own code, those of each shoot in the order of their levels. */
export const runRelease = async (run: ReleaseRun): Promise<ReleaseReport> => {
  const paused: string[] = [];
  try {
    return await onCluster(run, (context) => release(run, context, paused));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, [...error.details, ...paused.map(pausedInWords)]);
  }
};
