import { graceMs } from '../harness/garden-config.ts';
import { type Column, inSeconds, quantile, tableOf } from '../harness/table.ts';
import type { OutageReport } from '../worlds/outage.ts';
import { countRequests } from './outage-figures.ts';

export interface StarvedResult {
  readonly target: string;
  readonly by: 'cgroup' | 'SIGSTOP' | 'nothing';
  readonly shoots: number;
  /** Number of times that the program ended by itself; `lostLeads`: that it gave up or lost leadership. Both since its start. */
  readonly exits: number;
  readonly lostLeads: number;
  /** Time from the start of the program until every shoot was probed, in milliseconds. */
  readonly readyMs: number;
  /** Longest time between two renewals of the Lease that reached the seed during the outage, in milliseconds. */
  readonly longestRenewalGapMs: number;
  /** Part of KCM's grace period that was left at the last write, in milliseconds, for each shoot whose Deployments were all scaled down. */
  readonly marginsMs: readonly number[];
  readonly nodesTurnedUnknown: number;
  readonly cpuShare: number;
  /** Number of requests to the seed until the last scale-down, by `verb resource`. */
  readonly requests: Readonly<Record<string, number>>;
}

const deploymentsPerShoot = 3;

/** Milliseconds left of the grace period of each shoot's first silent node; negative if the scale-down came too late. */
export const marginsOf = (
  { leases, writes }: Pick<OutageReport, 'leases' | 'writes'>,
  scale: number,
): readonly number[] =>
  leases.flatMap(({ namespace, renewals }) => {
    const downs = writes.filter((write) => write.namespace === namespace && write.to === 0);
    const names = new Set(downs.map(({ name }) => name));
    if (names.size < deploymentsPerShoot) return [];
    return [Math.min(...renewals) + graceMs * scale - Math.max(...downs.map(({ at }) => at))];
  });

/** Longest time without a renewal, in milliseconds. `from` and `until` are milliseconds since the epoch. */
export const longestGap = (
  requests: OutageReport['requests'],
  { from, until }: { readonly from: number; readonly until: number },
): number => {
  const renewals = requests.filter(({ verb, resource }) => verb === 'update' && resource === 'leases');
  const times = [from, ...renewals.map(({ at }) => at), until];
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
};

export const requestsUntilDown = ({ requests, writes }: OutageReport): StarvedResult['requests'] => {
  const lastAt = Math.max(...writes.filter(({ to }) => to === 0).map(({ at }) => at));
  return countRequests(requests.filter(({ at }) => at <= lastAt));
};

/** Counts the log lines that report the end of leadership. */
export const countLostLeads = (output: string): number => output.split('"stopped leading"').length - 1;

export const starvedFailures = (result: StarvedResult): readonly string[] => {
  const { shoots, marginsMs, exits, lostLeads, nodesTurnedUnknown } = result;
  const least = quantile(marginsMs, 0);
  const checks: readonly (readonly [boolean, string])[] = [
    [exits === 0, `the program ended ${String(exits)} times`],
    [lostLeads === 0, `the lead was lost ${String(lostLeads)} times`],
    [marginsMs.length === shoots, `only ${String(marginsMs.length)} of ${String(shoots)} shoots were scaled down`],
    [least > 0, `the last shoot was down ${inSeconds(-least)} s after the grace of its first node`],
    [nodesTurnedUnknown === 0, `KCM gave up ${String(nodesTurnedUnknown)} nodes`],
  ];
  return checks.filter(([holds]) => !holds).map(([, failure]) => failure);
};

const columns: readonly Column<StarvedResult>[] = [
  ['program', (row) => row.target],
  ['limited by', (row) => row.by],
  ['exits', (row) => row.exits],
  ['lost leads', (row) => row.lostLeads],
  ['all probed after', (row) => inSeconds(row.readyMs)],
  ['longest time without a renewal', (row) => inSeconds(row.longestRenewalGapMs)],
  ['shoots down', (row) => `${String(row.marginsMs.length)} of ${String(row.shoots)}`],
  ['margin: median', (row) => inSeconds(quantile(row.marginsMs, 0.5))],
  ['least', (row) => inSeconds(quantile(row.marginsMs, 0))],
  ['nodes given up', (row) => row.nodesTurnedUnknown],
  ['CPU', (row) => `${(100 * row.cpuShare).toFixed(1)} %`],
];

export const starvedMarkdown = (results: readonly StarvedResult[]): string =>
  [
    `## ${String(results[0]?.shoots ?? 0)} shoots fail in the same second, the prober has a tenth of a core`,
    '',
    tableOf(columns, results),
    '',
    "Times in seconds. Margin: what is left of KCM's grace of a shoot's first silent node when its last Deployment is scaled down. CPU in percent of one processor, from the outage on.",
  ].join('\n');
