import { plural } from '../../src/status/state/words.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { textColumns, wrapped } from '../../src/telemetry/index.ts';
import { seconds } from '../demo/index.ts';
import type { Impact, Rehearsal, TimelineRow } from './result.ts';

const labelWidth = 44;
const columnWidth = 10;

const inColumns = (label: string, cells: readonly string[]): string =>
  `  ${label.padEnd(labelWidth)}${cells.map((cell) => cell.padStart(columnWidth)).join('')}`.trimEnd();

const paragraph = (text: string, first = '', rest = ''): readonly string[] =>
  wrapped(text, textColumns - Math.max(first.length, rest.length)).map(
    (line, index) => `${index === 0 ? first : rest}${line}`,
  );

const rounded = (ms: number): string => formatGoDuration(Math.round(ms / 1_000) * 1_000);

const introduction = (rehearsal: Rehearsal): readonly string[] => {
  const { shoots, nodes, title, source, outage, endedMs, durationMs, seed, limits } = rehearsal;
  const world = `${plural(shoots, 'shoot')} of ${plural(nodes, 'node')}`;
  const time = `from ${rounded(outage.beginsMs)} to ${rounded(outage.endsMs)}`;
  const end =
    endedMs < durationMs ? `the rehearsal ended after ${rounded(endedMs)}` : `the rehearsal lasted ${rounded(endedMs)}`;
  const rate = Number.isFinite(limits.qps)
    ? `${String(limits.qps)} requests/s, burst ${String(limits.burst)}`
    : 'no rate limit';
  const flags = `${source === 'gardener' ? '' : `source ${source}, `}seed ${String(seed)}, ${rate}`;
  return paragraph(`Rehearsed: ${world}; ${title}, ${time}; ${end} (${flags})`);
};

const momentRows = (shoots: number, { what, shoots: those, spread }: TimelineRow): readonly string[] => {
  const label = those === shoots ? what : `${what} (${plural(those, 'shoot')})`;
  const cells = [spread.firstMs, spread.medianMs, spread.lastMs].map(seconds);
  return label.length < labelWidth ? [inColumns(label, cells)] : [`  ${label}`, inColumns('', cells)];
};

const timeline = ({ timeline: moments, shoots, fault }: Rehearsal): readonly string[] => {
  if (moments.length === 0) return [];
  const struck = fault === 'shoot-lb' ? 1 : shoots;
  return [
    '',
    inColumns('after the outage began, over all shoots', ['first', 'median', 'last']),
    ...moments.flatMap((moment) => momentRows(struck, moment)),
  ];
};

const margin = ({ margin: left, graceMs, threatened, heldShoots }: Rehearsal): readonly string[] => {
  if (threatened === 0) return [];
  const held = `KCM held in ${String(heldShoots)} of ${plural(threatened, 'threatened shoot')}`;
  if (left === undefined) return ['', held];
  const { leastMs, medianMs } = left;
  const numbers = `least ${seconds(leastMs)}, median ${seconds(medianMs)}`;
  return ['', ...paragraph(`${held}; margin to KCM's grace of ${seconds(graceMs)}: ${numbers}`)];
};

const impactRow = (label: string, { nodesLost, machinesReplaced }: Impact): string =>
  inColumns(label, [String(nodesLost), String(machinesReplaced)]);

const impacts = ({ with: protectedImpact, without }: Rehearsal): readonly string[] => [
  '',
  inColumns('', ['nodes', 'machines']),
  inColumns('', ['lost', 'replaced']),
  impactRow('without protection', without),
  impactRow('with protection', protectedImpact),
];

const requestLine = (where: string, table: Rehearsal['requests']['seed']): readonly string[] => {
  const entries = Object.entries(table).toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const total = entries.reduce((sum, [, number]) => sum + number, 0);
  const most = entries.slice(0, 4).map(([kind, number]) => `${kind} ${String(number)}`);
  const kinds = most.length === 0 ? '' : ` (${most.join(', ')})`;
  return paragraph(`requests to ${where}: ${String(total)}${kinds}`, '  ', '    ');
};

const requests = ({ requests: { seed, shoots } }: Rehearsal): readonly string[] => [
  '',
  ...requestLine('the seed', seed),
  ...requestLine('all shoots', shoots),
];

const warnings = ({ warnings: all }: Rehearsal): readonly string[] =>
  all.length === 0 ? [] : ['', ...all.flatMap((warning) => paragraph(warning, 'WARNING: ', '         '))];

const granted = ({ takenForGranted: all }: Rehearsal): readonly string[] =>
  all.length === 0 ? [] : ['', ...all.flatMap((what) => paragraph(what, 'TAKEN FOR GRANTED: ', '                   '))];

const verdict = (rehearsal: Rehearsal): readonly string[] => {
  const { notSaved, needless, unrestored, threatened, margin: left, with: impact, durationMs } = rehearsal;
  const lines = [
    ...(notSaved > 0 ? [`FAILED: ${plural(notSaved, 'node')} of threatened shoots lost in spite of protection`] : []),
    ...(needless > 0 ? [`FAILED: ${plural(needless, 'shoot')} scaled down without need`] : []),
    ...(unrestored > 0
      ? [`not restored within ${rounded(durationMs)}: ${plural(unrestored, 'shoot')}; try a longer --duration`]
      : []),
    ...(notSaved === 0 && left !== undefined && left.leastMs < 0
      ? [
          'NARROW: the grace period of a node was over before KCM was down; KCM was late, too, because it checks every 5s',
        ]
      : []),
    ...(notSaved === 0 && impact.nodesLost > 0
      ? [`${plural(impact.nodesLost, 'node')} lost where this configuration does not protect`]
      : []),
  ];
  if (notSaved === 0 && needless === 0) {
    lines.push(threatened > 0 ? 'PROTECTED: no threatened node was lost' : 'OK: nothing was scaled down, as expected');
  }
  return ['', ...lines.flatMap((line) => paragraph(line))];
};

/** Formats the result for people: 80 columns, no colour, ends with a line feed. */
export const formatRehearsal = (rehearsal: Rehearsal): string =>
  [introduction, timeline, margin, impacts, requests, warnings, granted, verdict]
    .flatMap((part) => part(rehearsal))
    .map((line) => `${line}\n`)
    .join('');
