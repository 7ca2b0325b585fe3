import { plural } from '../../src/status/state/words.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { textColumns, wrapped } from '../../src/telemetry/index.ts';
import { seconds } from '../demo/index.ts';
import type { Impact, Rehearsal } from './result.ts';

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

const margin = ({ margin: left, threatened, heldShoots }: Rehearsal): readonly string[] => {
  if (threatened === 0) return [];
  const held = `KCM held in ${String(heldShoots)} of ${plural(threatened, 'threatened shoot')}`;
  if (left === undefined) return ['', held];
  const numbers = `least ${seconds(left.leastMs)}, median ${seconds(left.medianMs)}`;
  return ['', ...paragraph(`${held}; time left until it would give up a node: ${numbers}`)];
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

const granted = ({ takenForGranted: all }: Rehearsal): readonly string[] =>
  all.length === 0 ? [] : ['', ...all.flatMap((what) => paragraph(what, 'TAKEN FOR GRANTED: ', '                   '))];

const verdict = ({
  with: impact,
  needless,
  unrestored,
  threatened,
  durationMs,
  isProtected,
}: Rehearsal): readonly string[] => {
  const lines = [
    ...(impact.nodesLost > 0 ? [`FAILED: ${plural(impact.nodesLost, 'node')} lost in spite of protection`] : []),
    ...(needless > 0 ? [`FAILED: ${plural(needless, 'shoot')} scaled down without need`] : []),
    ...(unrestored > 0
      ? [`not restored within ${rounded(durationMs)}: ${plural(unrestored, 'shoot')}; try a longer --duration`]
      : []),
  ];
  const good = threatened > 0 ? 'PROTECTED: no node was lost' : 'OK: nothing was scaled down, as expected';
  if (isProtected) lines.push(good);
  return ['', ...lines.flatMap((line) => paragraph(line))];
};

/** Formats the result for people: 80 columns, no colour, ends with a line feed. */
export const formatRehearsal = (rehearsal: Rehearsal): string =>
  [introduction, margin, impacts, granted, verdict]
    .flatMap((part) => part(rehearsal))
    .map((line) => `${line}\n`)
    .join('');
