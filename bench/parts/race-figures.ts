import { type Column, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { type KindName, kindNames, kinds } from './race-kinds.ts';
import type { RacedOutage } from './race-round.ts';

/** Milliseconds between the end of KCM's process and the earliest time at which it may mark a node. Negative if it ended too late. */
export const marginOf = ({ markableAt, stoppedAt }: RacedOutage): number | undefined =>
  stoppedAt === undefined ? undefined : markableAt - stoppedAt;

const since = (at: number | undefined, { silentSince }: RacedOutage): string =>
  inSeconds(at === undefined ? undefined : at - silentSince);
const between = (from: number | undefined, to: number | undefined): string =>
  inSeconds(from === undefined || to === undefined ? undefined : to - from);

const columns: readonly Column<RacedOutage>[] = [
  ['outage', (run) => run.kind],
  ['shoot', (run) => run.shoot],
  ['prober', (run) => (run.isProtected ? 'yes' : 'no')],
  ['threshold (s)', (run) => since(run.thresholdAt, run)],
  ['leader struck (s)', (run) => since(run.faultAt, run)],
  ['KCM stopped (s)', (run) => since(run.stoppedAt, run)],
  ['threshold to stop (s)', (run) => between(run.thresholdAt, run.stoppedAt)],
  ['margin (s)', (run) => inSeconds(marginOf(run))],
  ['restored after (s)', (run) => inSeconds(run.restoration?.restoredAfterMs)],
  ['first Unknown (s)', (run) => since(run.firstUnknownAt, run)],
  ['nodes Unknown', (run) => `${String(run.unknown)}/${String(run.nodes)}`],
];

/** Describes the failure of one outage in a sentence; undefined if it did not fail. */
const failureOf = (outage: RacedOutage): string | undefined => {
  const { kind, shoot, isProtected, unknown, nodes, stoppedAt, restoration } = outage;
  const name = `${kind}, ${shoot}`;
  if (isProtected && unknown > 0) return `${name}: ${String(unknown)} nodes turned Unknown with the prober`;
  if (isProtected && stoppedAt === undefined) return `${name}: the prober did not scale KCM down`;
  if (restoration !== undefined && restoration.restoredAfterMs === undefined) return `${name}: it was not restored`;
  if (!isProtected && unknown < nodes) return `${name}: only ${String(unknown)} nodes turned Unknown without`;
  return undefined;
};

/** True if the program's output should be printed: the outage failed, or its margin is below the aim for the least margin. */
export const needsOutput = (outage: RacedOutage): boolean => {
  const { least } = kinds[outage.kind].aims;
  return failureOf(outage) !== undefined || (outage.isProtected && (marginOf(outage) ?? 0) < least);
};

interface Summary {
  readonly kind: KindName;
  readonly outages: readonly RacedOutage[];
  /** Least, median and greatest margin; NaN if there are none. */
  readonly margins: readonly number[];
}

const summaryOf = (outages: readonly RacedOutage[], kind: KindName): Summary => {
  const own = outages.filter((outage) => outage.isProtected && outage.kind === kind);
  const margins = own.flatMap((outage) => marginOf(outage) ?? []);
  return { kind, outages: own, margins: [0, 0.5, 1].map((q) => quantile(margins, q)) };
};

const aimOf = ({ kind }: Summary): string => {
  const { least, median } = kinds[kind].aims;
  return median === undefined ? `least ${inSeconds(least)}` : `least ${inSeconds(least)}, median ${inSeconds(median)}`;
};

const summaryColumns: readonly Column<Summary>[] = [
  ['outage', ({ kind }) => kind],
  ['played', ({ outages }) => outages.length],
  ['KCM stopped', ({ outages }) => outages.filter(({ stoppedAt }) => stoppedAt !== undefined).length],
  ['nodes Unknown', ({ outages }) => outages.reduce((sum, { unknown }) => sum + unknown, 0)],
  ['margin (s): least', ({ margins: [least] }) => inSeconds(least)],
  ['median', ({ margins: [, median] }) => inSeconds(median)],
  ['most', ({ margins: [, , most] }) => inSeconds(most)],
  ['aim (s)', aimOf],
];

/** Names the margins below their aims. A missed aim is not a failure. */
const missedBy = ({ kind, margins: [least = Number.NaN, median = Number.NaN] }: Summary): readonly string[] => {
  const { aims } = kinds[kind];
  const missed: string[] = [];
  if (least < aims.least) missed.push(`${kind}: least margin ${inSeconds(least)} s, aim ${inSeconds(aims.least)} s`);
  if (aims.median !== undefined && median < aims.median) {
    missed.push(`${kind}: median margin ${inSeconds(median)} s, aim ${inSeconds(aims.median)} s`);
  }
  return missed;
};

/** `failures`: reasons why rounds could not be played. */
export interface RaceRecord {
  readonly outages: readonly RacedOutage[];
  readonly failures: readonly string[];
}

export interface RaceResult {
  /** Markdown. */
  readonly text: string;
  readonly missed: readonly string[];
  readonly failures: readonly string[];
}

/** Result of all outages. The race is lost if there are failures. */
export const raceResult = (record: RaceRecord): RaceResult => {
  const { outages } = record;
  const summaries = kindNames
    .filter((kind) => outages.some((outage) => outage.kind === kind))
    .map((kind) => summaryOf(outages, kind));
  const failures = [...record.failures, ...outages.flatMap((outage) => failureOf(outage) ?? [])];
  const missed = summaries.flatMap(missedBy);
  const text = [
    '## The prober against kube-controller-manager',
    '',
    tableOf(summaryColumns, summaries),
    '',
    'KCM is stopped (SIGKILL) when its Deployment in the seed, looked at every 50 ms, says 0 replicas. The margin is what was left until it may have marked a node.',
    'Below, times count from the last renewal of the node that fell silent first.',
    '',
    tableOf(columns, outages),
    '',
    failures.length === 0 ? 'No node was lost with the prober.' : 'The race is lost.',
  ].join('\n');
  return { text, missed, failures };
};
