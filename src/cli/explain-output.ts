import { ignoreScalingAnnotation } from '../annotations/scaling-annotations.ts';
import { formatAge } from '../kubernetes/api/duration.ts';
import type { LeaseEvidence, RecordedDecision } from '../prober/status/index.ts';
import type { SeenShoot } from '../status/index.ts';
import { escapeControls } from '../telemetry/index.ts';
import { between, nextOf, titleOf, utc } from './status-output.ts';
import { plural } from './status-screen/index.ts';
import { indented, textColumns, wrapped } from './wrapped.ts';

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

const percent = (share: number): string => `${String(Math.round(share * 1_000) / 10)} %`;

/** Returns a sentence with the threshold as a number of leases. */
const ruleOf = ({ candidates, expired, threshold, nodes, leftOut = 0 }: SeenShoot): string => {
  if (threshold === undefined || candidates === 0) return 'No lease is known.';
  // The condition of `reachesThreshold`: expired / candidates >= threshold.
  const needed = Math.ceil(threshold * candidates - 1e-9);
  const share = `Threshold: ${String(needed)} of ${plural(candidates, 'lease')} (${percent(threshold)})`;
  const all = nodes === undefined ? '' : ` There are ${plural(nodes, 'node')}; ${String(leftOut)} not counted.`;
  return `${share}; ${String(expired)} ${expired === 1 ? 'has' : 'have'} expired.${all}`;
};

const marginOf = (marginMs: number | undefined): string => {
  if (marginMs === undefined) return '';
  if (marginMs >= 0) return ` The last scale-down came ${formatAge(marginMs)} before that.`;
  return ` The last scale-down came ${formatAge(-marginMs)} after that: nodes may be lost.`;
};

const verdictLines = (shoot: SeenShoot, at: string): readonly string[] => {
  const { reason, lastRunEndedAt, leaseExpiryMs, graceMs, marginMs } = shoot;
  // A status from the objects of the seed has only the reason.
  if (graceMs === 0) return indented(reason);
  const judged = lastRunEndedAt === undefined ? 'Not probed yet.' : `Judged ${between(lastRunEndedAt, at)} ago.`;
  const times = `A lease expires ${formatAge(leaseExpiryMs)} after its last renewal, KCM gives up a node after ${formatAge(graceMs)}.`;
  return [...indented(reason), ...indented(`${judged} ${ruleOf(shoot)} ${times}${marginOf(marginMs)}`)];
};

const leaseRow = ({ name, renewedAt, ageMs, expired, leftOut }: LeaseEvidence, width: number): string => {
  const renewed = renewedAt === undefined ? 'never renewed'.padEnd(23) : utc(renewedAt);
  const age = ageMs === undefined ? '-' : formatAge(ageMs);
  const judged = leftOut ?? (expired ? 'EXPIRED' : '');
  return escapeControls(`  ${name.padEnd(width)}  ${renewed}  ${age.padStart(7)}  ${judged}`).trimEnd();
};

const leaseLines = (leases: readonly LeaseEvidence[]): readonly string[] => {
  const width = Math.max(0, ...leases.map(({ name }) => name.length));
  const oldestFirst = leases.toSorted((a, b) => (b.ageMs ?? Infinity) - (a.ageMs ?? Infinity));
  return oldestFirst.map((lease) => leaseRow(lease, width));
};

const heldLines = ({ held }: SeenShoot, at: string): readonly string[] => {
  const resources = held.flatMap(({ kind, name, replicas, since }) => {
    const when = since === undefined ? '' : `, since ${utc(since)} (${between(since, at)})`;
    return indented(`${kind} ${name}: at 0, ${plural(replicas, 'replica')} will be restored${when}`);
  });
  const [first] = resources;
  return first === undefined
    ? []
    : [...resources, ...indented('Held resources stay held if the prober stops; the next one restores them.')];
};

const scalingLines = ({ scaling }: SeenShoot, at: string): readonly string[] => {
  if (scaling === undefined || scaling === null) return [];
  const { direction, reason, startedAt, withoutLead, steps } = scaling;
  return [
    ...indented(`${direction}, for ${between(startedAt, at)}: ${reason}`),
    ...(withoutLead === undefined ? [] : indented(`without the lead: ${withoutLead}`)),
    ...steps.flatMap(({ kind, name, level, state, detail }) =>
      indented(`level ${String(level)}  ${kind} ${name}: ${state}${detail === undefined ? '' : ` (${detail})`}`, 4),
    ),
  ];
};

const ignoredLines = ({ namespace, ignored = [] }: SeenShoot): readonly string[] =>
  ignored.flatMap(({ kind, name }) => [
    ...indented(`ignore-scaling on ${kind} ${name}: it is not scaled down in an outage. To remove the annotation:`),
    escapeControls(`      kubectl -n ${namespace} annotate ${kind.toLowerCase()} ${name} ${ignoreScalingAnnotation}-`),
  ]);

const decisionLines = (decisions: readonly RecordedDecision[]): readonly string[] =>
  decisions.toReversed().flatMap(({ at, lastAt, runs, verdict, reason, candidates, expired }) => {
    const times = runs === 1 ? '' : ` to ${utc(lastAt)}, ${plural(runs, 'run')}`;
    const counts = candidates === undefined ? '' : ` ${String(expired)}/${String(candidates)}`;
    return [...indented(`${utc(at)}${times}: ${verdict}${counts}`), ...indented(reason, 6)];
  });

/** Formats the last verdict with its evidence, and the decisions before it, without control characters other than line feeds. */
export const formatExplanation = (shoot: SeenShoot, at: string): string => {
  const { namespace, state, since, leases = [], decisions = [], paused } = shoot;
  const word = state === 'healthy' ? state : state.toUpperCase();
  const when = since === undefined ? '' : ` since ${utc(since)} (${between(since, at)})`;
  const title = `${titleOf(shoot)} (${namespace}) is ${word}${when}.`;
  const pause =
    paused === null ? [] : indented(`until ${paused.until ?? 'it is taken back'}, by ${paused.by}: ${paused.reason}`);
  return `${[
    ...wrapped(title, textColumns),
    ...section('VERDICT', verdictLines(shoot, at)),
    ...section('LEASES THAT COUNT (oldest renewal first)', leaseLines(leases.filter(({ counted }) => counted))),
    ...section('NOT COUNTED', leaseLines(leases.filter(({ counted }) => !counted))),
    ...section('NOT PROTECTED', ignoredLines(shoot)),
    ...section('HELD', heldLines(shoot, at)),
    ...section('SCALING', scalingLines(shoot, at)),
    ...section('PAUSED', pause),
    ...section('NEXT', indented(nextOf(shoot, at))),
    ...section('DECISIONS (latest first)', decisionLines(decisions)),
  ].join('\n')}\n`;
};
