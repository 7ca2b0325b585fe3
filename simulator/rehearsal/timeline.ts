import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import { thresholdOf } from '../outages/index.ts';
import { kubeControllerManager } from '../world/index.ts';
import { componentOf } from './components.ts';
import type { RehearsalPlan } from './plan.ts';
import type { CountChange, AffectedShoot } from './play.ts';

/** Distribution of a time over all shoots in which the event happened; milliseconds. */
export interface Spread {
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
export interface ShootRace {
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

export const raceOf = (
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
export const spreadOf = (times: readonly (number | undefined)[], zero = 0): Spread | undefined => {
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

export const timelineOf = (
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
