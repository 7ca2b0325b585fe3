import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import type { ProberSettings } from '../../src/prober/index.ts';
import { thresholdOf } from '../outages/index.ts';
import { type WorldSource, kubeControllerManager } from '../world/index.ts';
import { analyse } from './analysis.ts';
import { componentOf } from './components.ts';
import { unknownResources } from './dependents.ts';
import type { FaultName } from './faults.ts';
import type { RehearsalPlan } from './plan.ts';
import { type AffectedShoot, type CountChange, type RehearsalRecord, heldAfter, playRehearsal } from './play.ts';

/** Distribution of a time over all shoots in which the event happened; milliseconds. */
interface Spread {
  readonly firstMs: number;
  readonly medianMs: number;
  readonly lastMs: number;
}

/** A row of the timeline. Times are from the beginning of the outage. */
export interface TimelineRow {
  readonly what: string;
  /** Number of shoots in which it happened. */
  readonly shoots: number;
  readonly spread: Spread;
}

/** The race between the scale-down and KCM in one affected shoot; monotonic milliseconds. */
interface ShootRace {
  readonly shoot: string;
  /** Time at which the threshold is reached. Absent if not enough nodes are cut off. */
  readonly thresholdAt?: number;
  /** End of the grace period of the node that has been silent for longest. */
  readonly graceEndsAt: number;
  readonly firstDownAt?: number;
  readonly managerDownAt?: number;
  readonly lastDownAt?: number;
}

/** Selects the changes to 0 during the outage. */
const changesIn = ({ beginsAt, endsAt }: RehearsalPlan, changes: readonly CountChange[]): readonly CountChange[] =>
  changes.filter(({ to, at }) => to === 0 && at >= beginsAt && at < endsAt);

const raceOf = (
  plan: RehearsalPlan,
  { shoot, renewals, nodes }: AffectedShoot,
  changes: readonly CountChange[],
): ShootRace => {
  const { settings, beginsAt } = plan;
  const { nodeMonitorGraceMs: graceMs, nodeLeaseFailureFraction: fraction, allSilentAfterMs } = settings;
  const threshold = thresholdOf(renewals, { candidates: nodes, graceMs, fraction, allSilentAfterMs });
  const downs = changesIn(plan, changes).filter((change) => change.shoot === shoot);
  const refs = settings.dependentResources.map(({ ref }) => ref);
  const managers = new Set(refs.filter(({ name }) => componentOf(name) === kubeControllerManager).map(refKey));
  const manager = downs.find(({ key }) => managers.has(key));
  const [first, last] = [downs[0], downs.at(-1)];
  return {
    shoot,
    graceEndsAt: (renewals[0] ?? beginsAt) + graceMs,
    thresholdAt: Number.isFinite(threshold) ? threshold : undefined,
    firstDownAt: first?.at,
    managerDownAt: manager?.at,
    lastDownAt: last?.at,
  };
};

/** Returns the distribution of the times, relative to `zero`; undefined if there are none. The median is one of the times. */
const spreadOf = (times: readonly (number | undefined)[], zero = 0): Spread | undefined => {
  const sorted = times.filter((time) => time !== undefined).toSorted((a, b) => a - b);
  const [first, median, last] = [sorted[0], sorted[Math.ceil(sorted.length / 2) - 1], sorted.at(-1)];
  if (first === undefined || median === undefined || last === undefined) return undefined;
  const after = (time: number): number => Math.round(time - zero);
  return { firstMs: after(first), medianMs: after(median), lastMs: after(last) };
};

const restorations = ({ settings, endsAt }: RehearsalPlan, changes: readonly CountChange[]) =>
  settings.dependentResources
    .map(({ ref, scaleUp }) => {
      const ups = changes.filter(({ key, from, at }) => key === refKey(ref) && from === 0 && at >= endsAt);
      return { level: scaleUp.level, what: `${componentOf(ref.name)} restored`, times: ups.map(({ at }) => at) };
    })
    .toSorted((a, b) => a.level - b.level);

const timelineOf = (
  plan: RehearsalPlan,
  races: readonly ShootRace[],
  changes: readonly CountChange[],
): readonly TimelineRow[] => {
  const threatened = races.filter(({ thresholdAt }) => thresholdAt !== undefined);
  const downs = [
    { what: 'threshold crossed', times: races.map(({ thresholdAt }) => thresholdAt) },
    { what: 'first scale-down', times: races.map(({ firstDownAt }) => firstDownAt) },
    { what: 'last scale-down', times: races.map(({ lastDownAt }) => lastDownAt) },
    { what: `${kubeControllerManager} scaled down`, times: races.map(({ managerDownAt }) => managerDownAt) },
    { what: "KCM's grace over for the first node", times: threatened.map(({ graceEndsAt }) => graceEndsAt) },
  ];
  const ends = { what: 'outage ends', times: races.map(() => plan.endsAt) };
  return [...downs, ends, ...restorations(plan, changes)].flatMap(({ what, times }) => {
    const spread = spreadOf(times, plan.beginsAt);
    return spread === undefined ? [] : [{ what, shoots: times.filter((time) => time !== undefined).length, spread }];
  });
};

export interface Impact {
  readonly nodesLost: number;
  readonly machinesReplaced: number;
}

/** Result of a rehearsal. All times are milliseconds. */
export interface Rehearsal {
  readonly fault: FaultName;
  readonly title: string;
  readonly source: WorldSource;
  readonly shoots: number;
  readonly nodes: number;
  readonly seed: number;
  readonly limits: RehearsalPlan['limits'];
  readonly graceMs: number;
  /** Beginning and end of the outage, since the start of the watchdog. */
  readonly outage: { readonly beginsMs: number; readonly endsMs: number };
  /** Duration of the run in virtual time. The run ends early if nothing more can happen. */
  readonly endedMs: number;
  readonly durationMs: number;
  readonly timeline: readonly TimelineRow[];
  /** Time from the scale-down of KCM to the end of the grace period of a shoot's first node; negative if too late. Absent if KCM was scaled down nowhere. */
  readonly margin?: { readonly leastMs: number; readonly medianMs: number };
  /** Number of shoots that had enough nodes cut off to reach the threshold. */
  readonly threatened: number;
  /** Number of threatened shoots in which KCM was scaled down. */
  readonly heldShoots: number;
  /** Number of shoots that were scaled down before the outage, or although their threshold was not reached. */
  readonly needless: number;
  /** Number of shoots in which a resource was still scaled down at the end. */
  readonly unrestored: number;
  readonly with: Impact;
  readonly without: Impact;
  /** Number of nodes of threatened shoots that were lost despite the watchdog. */
  readonly notSaved: number;
  readonly warnings: readonly string[];
  /** Assumptions that were not rehearsed, because only a real seed can confirm them. */
  readonly takenForGranted: readonly string[];
  /** Numbers of the watchdog's requests, by `verb resource`. */
  readonly requests: { readonly seed: RequestTable; readonly shoots: RequestTable };
  readonly isProtected: boolean;
}

type RequestTable = Readonly<Record<string, number>>;

const impactOf = ({ impacts }: RehearsalRecord, among: (shoot: string) => boolean = () => true): Impact => {
  const counted = [...impacts].filter(([shoot]) => among(shoot)).map(([, impact]) => impact);
  return {
    nodesLost: counted.reduce((sum, { nodesTurnedUnknown }) => sum + nodesTurnedUnknown, 0),
    machinesReplaced: counted.reduce((sum, { machinesReplaced }) => sum + machinesReplaced, 0),
  };
};

/** Returns the shoots that were scaled down before the outage, or although their threshold was not reached. */
const needlessIn = ({ beginsAt }: RehearsalPlan, threatened: ReadonlySet<string>, changes: readonly CountChange[]) =>
  new Set(
    changes
      .filter(({ to, at, shoot }) => to === 0 && (at < beginsAt || !threatened.has(shoot)))
      .map((change) => change.shoot),
  );

const shortOfThreshold = ({ settings, fault }: RehearsalPlan, races: readonly ShootRace[]): readonly string[] => {
  if (fault.share === 0 || races.length === 0 || races.some(({ thresholdAt }) => thresholdAt !== undefined)) return [];
  return [
    `${String(100 * fault.share)} % of the nodes are cut off, and nodeLeaseFailureFraction is ${String(settings.nodeLeaseFailureFraction)}: the threshold is never reached`,
  ];
};

const tableOf = (counts: ReadonlyMap<string, number>): RequestTable =>
  Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));

const takenForGranted = (settings: ProberSettings): readonly string[] =>
  unknownResources(settings).map(
    ({ ref }) =>
      `that the seed serves ${ref.kind} of ${ref.apiVersion} with a scale subresource: ${ref.name} was not rehearsed, and is protected only if so`,
  );

/** Judges two runs of a plan, one with the watchdog and one without. Pure. */
export const judgeRehearsal = (
  plan: RehearsalPlan,
  runs: { readonly with: RehearsalRecord; readonly without: RehearsalRecord },
): Rehearsal => {
  const { settings, faultName, fault, limits } = plan;
  const { changes, struck, requests } = runs.with;
  const races = struck.map((shoot) => raceOf(plan, shoot, changes));
  const threatened = new Set(races.filter(({ thresholdAt }) => thresholdAt !== undefined).map(({ shoot }) => shoot));
  const margins = spreadOf(
    races.map(({ graceEndsAt, managerDownAt }) =>
      managerDownAt === undefined ? undefined : graceEndsAt - managerDownAt,
    ),
  );
  const notSaved = impactOf(runs.with, (shoot) => threatened.has(shoot)).nodesLost;
  const needless = needlessIn(plan, threatened, changes).size;
  return {
    fault: faultName,
    title: fault.title,
    source: plan.source,
    shoots: plan.shoots,
    nodes: plan.nodes,
    seed: plan.seed,
    limits,
    graceMs: settings.nodeMonitorGraceMs,
    outage: { beginsMs: plan.beginsAt, endsMs: plan.endsAt },
    endedMs: Math.round(runs.with.endedAt),
    durationMs: plan.durationMs,
    timeline: timelineOf(plan, races, changes),
    ...(margins === undefined ? {} : { margin: { leastMs: margins.firstMs, medianMs: margins.medianMs } }),
    threatened: threatened.size,
    heldShoots: races.filter(({ shoot, managerDownAt }) => threatened.has(shoot) && managerDownAt !== undefined).length,
    needless,
    unrestored: new Set([...heldAfter(changes)].map((held) => held.split(' ')[0])).size,
    with: impactOf(runs.with),
    without: impactOf(runs.without),
    notSaved,
    takenForGranted: takenForGranted(settings),
    warnings: [...analyse(settings, plan), ...shortOfThreshold(plan, races)],
    requests: { seed: tableOf(requests.seed), shoots: tableOf(requests.shoots) },
    isProtected: notSaved === 0 && needless === 0,
  };
};

/** Progress of a rehearsal. */
export interface RehearsalProgress {
  readonly isProtected: boolean;
  /** Elapsed virtual time. */
  readonly playedMs: number;
}

/** Plays a plan without the watchdog and with it, in virtual time. The same plan gives the same result. */
export const rehearse = async (
  plan: RehearsalPlan,
  onProgress?: (progress: RehearsalProgress) => void,
): Promise<Rehearsal> => {
  const play = (isProtected: boolean) =>
    playRehearsal(plan, { isProtected, onProgress: (playedMs) => onProgress?.({ isProtected, playedMs }) });
  const without = await play(false);
  return judgeRehearsal(plan, { without, with: await play(true) });
};
