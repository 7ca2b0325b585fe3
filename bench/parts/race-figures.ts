import { type Column, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { type KindName, kindNames } from './race-kinds.ts';
import type { RacedOutage } from './race-round.ts';

/** Describes the failure of one outage in a sentence; undefined if it did not fail. */
export const failureOf = (outage: RacedOutage): string | undefined => {
  const { isProtected, unknown, nodes, marginMs, restoredAfterMs } = outage;
  if (isProtected && unknown > 0) return `${String(unknown)} nodes turned Unknown with the prober`;
  if (isProtected && marginMs === undefined) return 'the prober did not scale KCM down';
  if (restoredAfterMs === 'never') return 'it was not restored';
  if (!isProtected && unknown < nodes) return `only ${String(unknown)} nodes turned Unknown without`;
  return undefined;
};

/** Tells one outage in a line. */
export const lineOf = (outage: RacedOutage): string => {
  const { kind, shoot, marginMs, nodes, unknown, silentSince, faultAt, restoredAfterMs } = outage;
  const parts = [
    `${kind}, ${shoot}: margin ${inSeconds(marginMs)} s, ${String(unknown)} of ${String(nodes)} nodes Unknown`,
  ];
  if (faultAt !== undefined) parts.push(`leader struck after ${inSeconds(faultAt - silentSince)} s of silence`);
  if (typeof restoredAfterMs === 'number') parts.push(`restored ${inSeconds(restoredAfterMs)} s after the return`);
  const failure = failureOf(outage);
  if (failure !== undefined) parts.push(`LOST: ${failure}`);
  return parts.join(', ');
};

interface Summary {
  readonly kind: KindName;
  readonly outages: readonly RacedOutage[];
  /** Margins, in milliseconds. */
  readonly margins: readonly number[];
}

const columns: readonly Column<Summary>[] = [
  ['outage', ({ kind }) => kind],
  ['played', ({ outages }) => outages.length],
  ['KCM stopped', ({ margins }) => margins.length],
  ['nodes Unknown', ({ outages }) => outages.reduce((sum, { unknown }) => sum + unknown, 0)],
  ['margin (s): least', ({ margins }) => inSeconds(quantile(margins, 0))],
  ['median', ({ margins }) => inSeconds(quantile(margins, 0.5))],
  ['most', ({ margins }) => inSeconds(quantile(margins, 1))],
];

/** Formats the outages of the protected shoots in Markdown, with a row for each kind. */
export const markdownOf = (outages: readonly RacedOutage[]): string => {
  const own = outages.filter(({ isProtected }) => isProtected);
  const summaries = kindNames.map((kind): Summary => {
    const ofKind = own.filter((outage) => outage.kind === kind);
    return { kind, outages: ofKind, margins: ofKind.flatMap(({ marginMs }) => marginMs ?? []) };
  });
  return `
## The prober against kube-controller-manager

${tableOf(
  columns,
  summaries.filter((summary) => summary.outages.length > 0),
)}

KCM is stopped (SIGKILL) when its Deployment in the seed, looked at every 100 ms, says 0 replicas. The margin is what was left until it may have
marked a node. Aims: at least 7 s in plain outages; in the others at least 2 s, and 6 s in half of them.`;
};
