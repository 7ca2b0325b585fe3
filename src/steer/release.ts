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
  findNamedShoot,
  installedConfiguration,
  isNoSeed,
  noSeed,
  readNamespaces,
  readSeedObjects,
} from '../status/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { currentUser, seedTime, writePause } from './namespaces.ts';
import { type ShootOutage, judgeOutages, stillInOutage } from './outages.ts';
import { type ResumeRun, allShoots, endedBy, homeNotes } from './pause.ts';

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

/** Pause of a released shoot, or of all, so that a prober does not scale it down again. */
const releasePauseMs = 600_000;
/** A running prober has observed a pause after this time. */
const heardMs = 2_000;

const reason = 'released by an operator';

const pauseOfAll = 'first all shoots are paused for 10 minutes, so that nothing more is scaled down';

/** Pauses a shoot, or all in the Namespace of the prober, unless that is paused for as long already. Adds its name to `paused`. */
const pauseFirst = async (
  name: string,
  { run, paused }: { readonly run: ReleaseRun; readonly paused: string[] },
  context: CommandContext,
): Promise<void> => {
  const by = await currentUser(context, run);
  const { paused: known, now } = await readNamespaces(context);
  const until = Math.ceil((now + releasePauseMs) / 1_000) * 1_000;
  const before = known.get(name);
  // One that cannot be read may be over for the prober, which counts from when it first saw it.
  const isLonger = before && before.problem === undefined && (before.until === undefined || before.until >= until);
  if (isLonger !== true) {
    await writePause(name, { until, reason, by }, context);
    paused.push(name);
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

/** Says that a release has paused a shoot, or all. It may have failed. */
const pausedInWords = (name: string, { namespace: home }: ReleaseRun): string =>
  `${name === home ? allShoots : name}: paused for 10 minutes; ${endedBy(name, home)} ends that`;

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

/** How to release a shoot, or all. */
interface Release {
  /** The Namespace on which a pause is written: of the shoot, or for all that of the prober. */
  readonly home: string;
  readonly order: readonly string[];
  /** Lists what is held now. */
  readonly find: () => Promise<readonly HeldResource[]>;
  readonly askProber: () => Promise<LeaderAnswer>;
  readonly restore: (clusters: ReadonlySet<string>) => Promise<ReleaseResult>;
}

const prepare = async (run: ReleaseRun, context: CommandContext): Promise<Release> => {
  const { shoot, namespace, logger, env, dryRun } = run;
  const { settings, order } = await orderOf(run, context);
  const only = shoot === undefined ? undefined : (await findNamedShoot(shoot, context)).namespace;
  const listing = { ...context, seed: context.kube, settings };
  const ports = { random: systemRandom(), meter: createMeter(), logger, env };
  return {
    home: only ?? namespace,
    order,
    find: async () => (await listHeld(listing)).held.filter(({ cluster }) => only === undefined || cluster === only),
    askProber: () => askLeader({ ...run, shoot: undefined }, context),
    restore: (clusters) => releaseHeld({ ...listing, ...ports, clusters, dryRun, reason }),
  };
};

const clustersOf = (held: readonly HeldResource[]): ReadonlySet<string> => new Set(held.map(({ cluster }) => cluster));

const heldInWords = (resource: HeldResource): string => `${heldName(resource)}${formerSuffix(resource)}`;

/** Says, where nothing is held, if this is a seed at all. Throws a CommandError if not. */
const nothingHeld = async (run: ReleaseRun, context: CommandContext): Promise<readonly string[]> => {
  if (run.settings === undefined && (await isNoSeed(await readSeedObjects(run, context), run, context))) {
    throw new CommandError(noSeed);
  }
  return ['nothing is held'];
};

/** Pauses, restores what is held of these clusters, and looks again. Adds the name of what it pauses to `paused`. */
const restoreHeld = async (
  { home, find, askProber, restore }: Release,
  { run, confirmed, paused }: { run: ReleaseRun; confirmed: ReadonlySet<string>; paused: string[] },
  context: CommandContext,
): Promise<ReleaseReport> => {
  await pauseFirst(home, { run, paused }, context);
  // An outage that began since the question is known to nobody.
  const clusters = run.despiteOutage ? clustersOf(await find()) : confirmed;
  const result = await restore(clusters);
  const late = (await find()).filter(({ cluster }) => !clusters.has(cluster));
  const lines = [
    ...linesOfResult(result, false),
    ...late.map((resource) => `still held: ${heldInWords(resource)}: scaled down meanwhile; run dwd release again`),
    ...paused.map((name) => pausedInWords(name, run)),
    ...stillInOutage(await askProber(), clusters, endedBy(home, run.namespace)),
  ];
  return { lines, isDone: result.left.length === 0 && late.length === 0 };
};

/** Asks for confirmation, and releases. All shoots are paused even if none is held, because an outage may begin before their prober is removed. */
const release = async (run: ReleaseRun, context: CommandContext, paused: string[]): Promise<ReleaseReport> => {
  const prepared = await prepare(run, context);
  const { order, find, askProber, restore } = prepared;
  const held = await find();
  const none = held.length === 0 ? await nothingHeld(run, context) : undefined;
  if (none !== undefined && (run.shoot !== undefined || run.dryRun)) return { lines: none, isDone: true };
  const outages = judgeOutages({ held, leader: await askProber(), now: await seedTime(context) });
  const words = outages.map((outage) => outage.words);
  const confirmed = clustersOf(held);
  if (run.dryRun) {
    const foreseen = await restore(confirmed);
    const lines = [...order, ...linesOfResult(foreseen, true), ...words, 'nothing was changed'];
    return { lines, isDone: foreseen.left.length === 0 };
  }
  if (!run.despiteOutage) refuseInOutage(outages);
  const asked = [
    ...(none ?? [...order, ...held.map(heldInWords), ...words]),
    ...(run.shoot === undefined ? [pauseOfAll, ...(await homeNotes(run.namespace, context))] : []),
  ];
  if (!(await isConfirmed(asked, run, context.signal))) return { lines: ['nothing was changed'], isDone: false };
  return restoreHeld(prepared, { run, confirmed, paused }, context);
};

/** Runs `dwd release`: restores held resources with the prober's own code, those of each shoot in the order of their levels. */
export const runRelease = async (run: ReleaseRun): Promise<ReleaseReport> => {
  const paused: string[] = [];
  try {
    return await onCluster(run, (context) => release(run, context, paused));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, [...error.details, ...paused.map((name) => pausedInWords(name, run))]);
  }
};
