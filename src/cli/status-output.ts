import { formatAge } from '../kubernetes/api/duration.ts';
import { podOfHolder } from '../kubernetes/api/pod-of-holder.ts';
import { type SeedStatus, noSeed, titleOf } from '../status/index.ts';
import {
  foldShoots,
  needsEyes,
  nextInWords,
  runbookToShow,
  seedInWords,
  stateInWords,
} from '../status/state/judge-seed.ts';
import type { ShootStatus } from '../status/state/schema.ts';
import { plural } from '../status/state/words.ts';
import { escapeControls, wrapped } from '../telemetry/index.ts';
import { colourBy } from './output.ts';

/** Formats the time between two RFC 3339 timestamps. */
export const between = (from: string, to: string): string => formatAge(Date.parse(to) - Date.parse(from));

/** Formats a timestamp as `2026-01-01 14:00:00 UTC`. */
export const utc = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** Colours a state of a shoot. */
const paint = colourBy<ShootStatus['state']>({
  'losing nodes': 'red',
  blind: 'magenta',
  'not protected': 'yellow',
  paused: 'yellow',
  held: 'cyan',
  landing: 'cyan',
  restoring: 'cyan',
  flapping: 'yellow',
  confirming: 'yellow',
  healthy: 'green',
  'not probed': 'gray',
});

/** Says who leads, who else is there, and how old the view is. */
export const leaderInWords = ({ lease, replicas, prober, source, at }: SeedStatus): string => {
  const { holder = '', since, isFresh = false } = lease ?? {};
  const leader = prober?.leads === true && holder === '' ? prober.identity : holder;
  const name = podOfHolder(leader);
  const led = since === undefined ? '' : ` for ${between(since, at)}`;
  const others = replicas?.filter(({ pod }) => pod !== podOfHolder(holder)) ?? [];
  const ready = others.filter(({ isReady }) => isReady).length;
  const standby = prober === undefined ? '' : `${prober.standby} `;
  // Without a pod the selector or the namespace may be wrong.
  const isKnown = replicas !== undefined && replicas.length > 0;
  const standbys = !isKnown ? '' : ready === 0 ? ', no standby' : `, ${plural(ready, `${standby}standby`)}`;
  const round =
    prober?.lastRoundEndedAt === undefined ? '' : `; last round ${between(prober.lastRoundEndedAt, at)} ago`;
  const written = prober?.dryRun === true ? '; DRY RUN, nothing is written' : '';
  const waits = 'nothing is restored until a replica leads; runbook DwdNoLeader';
  if (leader === '') {
    if (lease === undefined) return 'leader not known';
    return prober === undefined
      ? `nobody holds the leader Lease: nothing is probed, unless a prober runs without one or elsewhere (--namespace)${standbys}; runbook DwdProberAbsent`
      : `nobody holds the leader Lease${standbys}: ${waits}`;
  }
  if (holder !== '' && !isFresh && prober?.leads !== true) {
    return `leader ${name}${led} no longer renews its Lease${standbys}: ${waits}`;
  }
  const silent = source === 'leader' ? '' : ', but it did not respond';
  return `leader ${name}${led}${silent}${standbys}${round}${written}`;
};

/** Says in one sentence how the shoots are, and where that is known from. */
export const verdictInWords = ({ source, shoots, total, prober, lease }: SeedStatus): string => {
  switch (source) {
    case 'leader':
      return seedInWords(shoots);
    case 'standby': {
      const observing = lease?.isForeign === true ? '; it only observes, beside another program' : '';
      return `${seedInWords(shoots)}, as the standby ${podOfHolder(prober?.identity ?? '')} sees it${observing}`;
    }
    case 'objects':
      return shoots.length === 0
        ? 'not known: no prober responded; by its objects nothing is held'
        : `no prober responded; by its objects ${seedInWords(shoots).replace(/^(\d+) of \d+ shoots?/, `$1 of ${plural(total, 'shoot')}`)}, of the others nothing is known`;
    case 'none':
      return 'not known: nothing could be read';
    case 'no-seed':
      return noSeed;
  }
};

const worstOf = ({ shoots: [first], source }: SeedStatus): ShootStatus['state'] =>
  first?.state ?? (source === 'leader' || source === 'standby' ? 'healthy' : 'not probed');

/** Returns the lines about the seed and its prober, the verdict first; without `columns` neither wrapped nor coloured. */
const headLines = (status: SeedStatus, columns?: number): readonly string[] => {
  const width = columns ?? Number.POSITIVE_INFINITY;
  const seed = `seed ${escapeControls(status.seed)}   `;
  const [first = '', ...more] = wrapped(`${seed}${verdictInWords(status)}`, width);
  const colour = (line: string): string => (columns === undefined ? line : paint(worstOf(status), line));
  return [
    `${first.slice(0, seed.length)}${colour(first.slice(seed.length))}`,
    ...more.map(colour),
    ...(status.source === 'no-seed' ? [] : wrapped(leaderInWords(status), width)),
    ...status.attention.flatMap((text) => wrapped(`! ${text}`, width)),
    ...status.problems.flatMap((text) => wrapped(`? ${text}`, width)),
  ];
};

/** Returns what a person does, with the runbook; empty if nothing is to be done. */
export const doInWords = (shoot: ShootStatus): string => {
  const runbook = runbookToShow(shoot);
  return [shoot.do, runbook === undefined ? '' : `runbook ${runbook}`].filter((text) => text !== '').join('; ');
};

/** What is told of a shoot, or of several that are equal to it. */
interface Row {
  readonly state: ShootStatus['state'];
  /** In the order of the headings. */
  readonly cells: readonly string[];
  readonly why: string;
  /** Empty: nothing. */
  readonly next: string;
  readonly what: string;
}

export const rowOf = (shoot: ShootStatus, at: string, title = titleOf(shoot)): Row => {
  const { state, since, why } = shoot;
  const age = since === undefined ? '-' : between(since, at);
  return {
    ...{ state, why, next: nextInWords(shoot, at), what: doInWords(shoot) },
    cells: [title, stateInWords(shoot), age].map(escapeControls),
  };
};

const headings = ['SHOOT', 'STATE', 'SINCE'] as const;
/** Narrowest column of words; below that they go under their row. */
const fewestColumns = 44;

const widthsOf = (rows: readonly Row[]): readonly number[] =>
  headings.map((heading, column) => Math.max(heading.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)));

const pad = (cells: readonly string[], widths: readonly number[]): readonly string[] =>
  cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));

/** Returns the words of a row, each of which begins a line. */
const wordsOf = ({ why, next, what, state }: Row): readonly string[] => [
  why,
  ...(next === '' || state === 'healthy' ? [] : [`next: ${next}`]),
  ...(what === '' ? [] : [`do: ${what}`]),
];

const linesOf = (rows: readonly Row[], columns: number): readonly string[] => {
  const widths = widthsOf(rows);
  const left = widths.reduce((sum, width) => sum + width + 2, 0);
  // A command must stay in one piece.
  const longest = Math.max(...rows.flatMap(wordsOf).flatMap((text) => text.split(' ').map(({ length }) => length)));
  const isBeside = columns - left >= Math.max(fewestColumns, Math.min(longest, columns - 4));
  const indent = isBeside ? left : 4;
  const heading = pad(headings, widths).join('  ');
  return [
    isBeside ? `${heading}  WHY / NEXT / DO` : heading.trimEnd(),
    ...rows.flatMap((row) => {
      const cells = pad(row.cells, widths).map((cell, column) => (column === 1 ? paint(row.state, cell) : cell));
      const lines = wordsOf(row).flatMap((text) => wrapped(text, columns - indent));
      const below = lines.map((line) => `${' '.repeat(indent)}${line}`);
      const head = cells.join('  ');
      return isBeside ? [`${head}  ${lines[0] ?? ''}`.trimEnd(), ...below.slice(1)] : [head.trimEnd(), ...below];
    }),
  ];
};

/** Formats rows for a program: a line each with all columns, separated by two or more spaces. */
const pipedLines = (rows: readonly Row[]): readonly string[] => {
  const widths = widthsOf(rows);
  return [
    [...pad(headings, widths), 'WHY', 'NEXT', 'DO'],
    ...rows.map(({ cells, why, next, what }) => [
      ...pad(cells, widths),
      ...[why, next || '-', what || '-'].map(escapeControls),
    ]),
  ].map((row) => row.join('  ').trimEnd());
};

export interface StatusOptions {
  /** True if healthy shoots are listed, too, and nothing is folded. */
  readonly all: boolean;
  /** Width of the terminal. Absent: the output is none. */
  readonly columns?: number;
}

interface TableOptions extends Required<StatusOptions> {
  readonly at: string;
}

const tableLines = (shoots: readonly ShootStatus[], { at, all, columns }: TableOptions): readonly string[] => {
  const groups = all ? shoots.map((first) => ({ first, shoots: [first] })) : foldShoots(shoots);
  const rows = groups.map(({ first, shoots: { length } }) =>
    length === 1 ? rowOf(first, at) : rowOf(first, at, `${String(length)} shoots`),
  );
  const isFolded = groups.length < shoots.length;
  return [
    ...linesOf(rows, columns),
    ...(isFolded ? ['', ...wrapped('A row of several shoots shows one of them (--all lists all).', columns)] : []),
  ];
};

/** Formats the status for people, without control characters other than line feeds and colours. */
export const formatStatus = (status: SeedStatus, { all, columns }: StatusOptions): string => {
  const { at } = status;
  const shoots = all ? status.shoots : status.shoots.filter(needsEyes);
  const table =
    columns === undefined
      ? pipedLines(shoots.map((shoot) => rowOf(shoot, at)))
      : tableLines(shoots, { at, all, columns });
  return `${[...headLines(status, columns), ...(shoots.length === 0 ? [] : ['', ...table])].join('\n')}\n`;
};
