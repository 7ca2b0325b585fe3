import { limits, thresholdAt } from '../harness/garden-config.ts';
import { quantile } from '../harness/table.ts';
import type { OutageReport, SeedRequest } from '../worlds/outage.ts';

/** Aim for the slowest shoot, in milliseconds. */
export const aimMs = 3_000;
/** Tolerance in requests: requests that were sent one after the other can arrive together. */
const bunching = 2;

export interface Quantiles {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

const spreadOf = (values: readonly number[]): Quantiles => ({
  median: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  worst: quantile(values, 1),
});

export interface Protection {
  /** Shoots whose three Deployments were all scaled down. */
  readonly shoots: number;
  /** Time from a shoot's threshold to its first scale-down write, in milliseconds. */
  readonly first: Quantiles;
  /** Time from a shoot's threshold to its last scale-down write, which waits until the pods of the earlier ones are gone. */
  readonly last: Quantiles;
  /** Time from the first threshold of all shoots to the last, in milliseconds. */
  readonly spreadOfThresholds: number;
}

const groupBy = <T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
};

export interface ExpectedScaling {
  /** Number of Deployments of each shoot. */
  readonly deployments: number;
  /** Factor of the configured times. */
  readonly scale: number;
}

/** The first argument is the report on the outage; its leases have the last renewals before the kubelets were cut off. */
export const protectionOf = (
  { leases, writes }: Pick<OutageReport, 'leases' | 'writes'>,
  { deployments, scale }: ExpectedScaling,
): Protection => {
  const downs = groupBy(
    writes.filter(({ to }) => to === 0),
    ({ namespace }) => namespace,
  );
  const thresholds = leases.map(({ renewals }) => thresholdAt(renewals, scale));
  const delays = leases.flatMap(({ namespace, renewals }) => {
    const times = (downs.get(namespace) ?? []).map(({ at }) => at - thresholdAt(renewals, scale));
    return times.length < deployments ? [] : [{ first: Math.min(...times), last: Math.max(...times) }];
  });
  return {
    shoots: delays.length,
    first: spreadOf(delays.map(({ first }) => first)),
    last: spreadOf(delays.map(({ last }) => last)),
    spreadOfThresholds: Math.max(...thresholds) - Math.min(...thresholds),
  };
};

export interface RestorationFigures {
  readonly deployments: number;
  /** Time from the order to restore until the last scale-up write of each shoot, in milliseconds. */
  readonly last: Quantiles;
  /** Number of requests until the last scale-up, without watches and requests for machines: those that belong to scale-ups. */
  readonly ordinary: number;
  readonly ordinaryPerSecond: number;
  /** Maximum number of requests at any time beyond those that a token bucket with the flags' rate and burst would have allowed. */
  readonly beyondTheLimit: number;
  readonly isWithinTheLimit: boolean;
  /** Number of requests by `verb resource`. */
  readonly requests: Readonly<Record<string, number>>;
}

/** Simulates a bucket that leaks `limits.qps` requests a second. Returns its maximum level above `limits.burst`. */
const mostBeyond = (times: readonly number[]): number => {
  let level = 0;
  let most = Number.NEGATIVE_INFINITY;
  times.forEach((at, index) => {
    level = Math.max(0, level - ((at - (times[index - 1] ?? at)) / 1_000) * limits.qps) + 1;
    most = Math.max(most, level - limits.burst);
  });
  return most;
};

/** Number of requests by `verb resource`. */
export const countRequests = (requests: readonly SeedRequest[]): Readonly<Record<string, number>> => {
  const groups = groupBy(requests, ({ verb, resource }) => `${verb} ${resource}`);
  return Object.fromEntries(Array.from(groups, ([key, list]) => [key, list.length]));
};

/** `since`: time at which the kubelets were reconnected, in milliseconds since the epoch. */
export const restorationOf = ({ writes, requests }: OutageReport, since: number): RestorationFigures => {
  const ups = writes.filter(({ from, to }) => from === 0 && to > 0);
  const lastAt = Math.max(since, ...ups.map(({ at }) => at));
  // A list of machines is urgent if its run saw an expired lease. The server cannot distinguish it from other lists of machines.
  const ordinary = requests.filter(({ verb, resource }) => verb !== 'watch' && resource !== 'machines');
  const inTime = ordinary.filter(({ at }) => at <= lastAt);
  const beyondTheLimit = mostBeyond(ordinary.map(({ at }) => at));
  const shoots = [...groupBy(ups, ({ namespace }) => namespace).values()];
  return {
    deployments: ups.length,
    last: spreadOf(shoots.map((writes) => Math.max(...writes.map(({ at }) => at)) - since)),
    ordinary: inTime.length,
    ordinaryPerSecond: (inTime.length * 1_000) / (lastAt - since),
    beyondTheLimit,
    isWithinTheLimit: beyondTheLimit <= bunching,
    requests: countRequests(requests),
  };
};
