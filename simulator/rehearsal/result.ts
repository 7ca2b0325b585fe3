import type { ProberSettings } from '../../src/prober/index.ts';
import type { WorldSource } from '../world/index.ts';
import { unknownResources } from './dependents.ts';
import type { FaultName } from './faults.ts';
import type { RehearsalPlan } from './plan.ts';
import { type CountChange, type RehearsalRecord, heldAfter, playRehearsal } from './play.ts';

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
  /** Beginning and end of the outage, since the start of the watchdog. */
  readonly outage: { readonly beginsMs: number; readonly endsMs: number };
  /** Duration of the run in virtual time. The run ends early if nothing more can happen. */
  readonly endedMs: number;
  readonly durationMs: number;
  /** Number of shoots that lose nodes without the watchdog, and of those of them whose KCM was scaled down in the outage. */
  readonly threatened: number;
  readonly heldShoots: number;
  /**
   * Time from the scale-down of KCM to the instant at which it gives up the first node of the shoot without the watchdog; negative if too late. Absent if
   * KCM was scaled down nowhere.
   */
  readonly margin?: { readonly leastMs: number; readonly medianMs: number };
  /** Number of shoots that were scaled down before the outage, or although they lose no node without the watchdog. */
  readonly needless: number;
  /** Number of shoots in which a resource was still scaled down at the end. */
  readonly unrestored: number;
  readonly with: Impact;
  readonly without: Impact;
  /** Assumptions that were not rehearsed, because only a real seed can confirm them. */
  readonly takenForGranted: readonly string[];
  readonly isProtected: boolean;
}

const impactOf = ({ impacts }: RehearsalRecord): Impact => {
  const all = [...impacts.values()];
  return {
    nodesLost: all.reduce((sum, { nodesTurnedUnknown }) => sum + nodesTurnedUnknown, 0),
    machinesReplaced: all.reduce((sum, { machinesReplaced }) => sum + machinesReplaced, 0),
  };
};

/** Returns when KCM was first scaled down in the outage, by shoot. */
const managersDown = (
  { beginsAt, endsAt }: RehearsalPlan,
  changes: readonly CountChange[],
): ReadonlyMap<string, number> => {
  const downs = changes.filter(({ to, at, isManager }) => isManager && to === 0 && at >= beginsAt && at < endsAt);
  return new Map(downs.toReversed().map(({ shoot, at }) => [shoot, at]));
};

const takenForGranted = (settings: ProberSettings): readonly string[] =>
  unknownResources(settings).map(
    ({ ref }) =>
      `that the seed serves ${ref.kind} of ${ref.apiVersion} with a scale subresource: ${ref.name} was not rehearsed, and is protected only if so`,
  );

/** Returns the shoots whose kubelets the fault cuts off. */
const cutShoots = (
  { fault, beginsAt, endsAt, nodes }: RehearsalPlan,
  shoots: readonly string[],
): ReadonlySet<string> => {
  const faults = fault.faultsOf({ at: beginsAt, forMs: endsAt - beginsAt, shoots, nodes });
  return new Set(
    faults.flatMap(({ fault: { kind, ...of } }) => {
      if (kind !== 'load-balancer' && kind !== 'nat-gateway') return [];
      return 'shoot' in of && of.shoot !== undefined ? [of.shoot] : shoots;
    }),
  );
};

/** Judges two runs of a plan, one with the watchdog and one without. Pure. */
export const judgeRehearsal = (
  plan: RehearsalPlan,
  runs: { readonly with: RehearsalRecord; readonly without: RehearsalRecord },
): Rehearsal => {
  const { settings, faultName, fault, limits, beginsAt } = plan;
  const { changes } = runs.with;
  const losses = new Map(
    [...runs.without.impacts].flatMap(([shoot, { firstLossAt }]) =>
      firstLossAt === undefined ? [] : [[shoot, firstLossAt] as const],
    ),
  );
  const downs = managersDown(plan, changes);
  const margins = [...losses]
    .map(([shoot, lostAt]) => Math.round(lostAt - (downs.get(shoot) ?? Number.NaN)))
    .filter((ms) => !Number.isNaN(ms))
    .toSorted((a, b) => a - b);
  const [leastMs, medianMs] = [margins[0], margins[Math.ceil(margins.length / 2) - 1]];
  const isCut = cutShoots(plan, [...runs.without.impacts.keys()]);
  const needless = changes.filter(({ to, at, shoot }) => to === 0 && (at < beginsAt || !isCut.has(shoot)));
  const impact = impactOf(runs.with);
  return {
    fault: faultName,
    title: fault.title,
    source: plan.source,
    shoots: plan.shoots,
    nodes: plan.nodes,
    seed: plan.seed,
    limits,
    outage: { beginsMs: beginsAt, endsMs: plan.endsAt },
    endedMs: Math.round(runs.with.endedAt),
    durationMs: plan.durationMs,
    threatened: losses.size,
    heldShoots: margins.length,
    margin: leastMs === undefined || medianMs === undefined ? undefined : { leastMs, medianMs },
    needless: new Set(needless.map(({ shoot }) => shoot)).size,
    unrestored: heldAfter(changes).size,
    with: impact,
    without: impactOf(runs.without),
    takenForGranted: takenForGranted(settings),
    isProtected: impact.nodesLost === 0 && needless.length === 0,
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
