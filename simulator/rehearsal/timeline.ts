import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import type { ProberSettings } from '../../src/prober/index.ts';
import { kubeControllerManager } from '../world/index.ts';
import type { RehearsalPlan } from './plan.ts';
import type { CountChange, StruckShoot } from './record.ts';

/** Over all shoots in which it happened; milliseconds. */
export interface Spread {
  readonly firstMs: number;
  readonly medianMs: number;
  readonly lastMs: number;
}

/** A row of the timeline. Times are from the beginning of the outage. */
export interface Moment {
  readonly what: string;
  /** In how many shoots. */
  readonly shoots: number;
  readonly spread: Spread;
}

/** What is known of one struck shoot; monotonic milliseconds. */
export interface Race {
  readonly shoot: string;
  /** Absent: not enough nodes are cut off. */
  readonly thresholdAt?: number;
  /** Of the node that has been silent for longest. */
  readonly graceEndsAt: number;
  readonly firstDownAt?: number;
  readonly managerDownAt?: number;
  readonly lastDownAt?: number;
}

const limitOfGrace = 0.75;

/** The smallest number of candidates that is enough; a single node proves nothing. */
const neededOf = (nodes: number, { nodeLeaseFailureFraction }: ProberSettings): number => {
  let needed = 1;
  while (needed / nodes < nodeLeaseFailureFraction) needed += 1;
  return nodes < 2 ? Number.POSITIVE_INFINITY : needed;
};

export const raceOf = (
  plan: RehearsalPlan,
  { shoot, renewals, nodes }: StruckShoot,
  changes: readonly CountChange[],
): Race => {
  const { settings, beginsAt, endsAt } = plan;
  const graceMs = settings.nodeMonitorGraceMs;
  const renewal = renewals[neededOf(nodes, settings) - 1];
  const downs = changes.filter(
    (change) => change.shoot === shoot && change.to === 0 && change.at >= beginsAt && change.at < endsAt,
  );
  const manager = downs.find(({ key }) => key.endsWith(`/${kubeControllerManager}`));
  const [first, last] = [downs[0], downs.at(-1)];
  return {
    shoot,
    graceEndsAt: (renewals[0] ?? beginsAt) + graceMs,
    ...(renewal === undefined ? {} : { thresholdAt: renewal + limitOfGrace * graceMs }),
    ...(first === undefined ? {} : { firstDownAt: first.at }),
    ...(manager === undefined ? {} : { managerDownAt: manager.at }),
    ...(last === undefined ? {} : { lastDownAt: last.at }),
  };
};

/** Undefined of none. The median is a value that occurred. */
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
      return { level: scaleUp.level, what: `${ref.name} restored`, times: ups.map(({ at }) => at) };
    })
    .toSorted((a, b) => a.level - b.level);

export const timelineOf = (
  plan: RehearsalPlan,
  races: readonly Race[],
  changes: readonly CountChange[],
): readonly Moment[] => {
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
