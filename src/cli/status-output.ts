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
  if (leader === '') {
    return lease === undefined
      ? 'leader not known'
      : `nobody holds the leader Lease: nothing is probed, unless a prober runs without one or elsewhere (--namespace)${standbys}; runbook DwdProberAbsent`;
  }
  if (holder !== '' && !isFresh && prober?.leads !== true) {
    return `leader ${name}${led} no longer renews its Lease${standbys}: nothing is restored until a replica leads; runbook DwdNoLeader`;
  }
  const silent = source === 'leader' ? '' : ', but it did not respond';
  return `leader ${name}${led}${silent}${standbys}${round}${written}`;
};

/** Says in one sentence how the shoots are, and where that is known from. */
export const verdictInWords = ({ source, shoots, total, prober }: SeedStatus): string => {
  switch (source) {
    case 'leader':
      return seedInWords(shoots);
    case 'standby':
      return `${seedInWords(shoots)}, as the standby ${podOfHolder(prober?.identity ?? '')} sees it`;
    case 'objects':
      return shoots.length === 0
        ? `not known: no prober responded; by its objects nothing is held or paused`
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

const sinceOf = ({ since }: ShootStatus, at: string): string => (since === undefined ? '-' : between(since, at));

/** Returns what a person does, with the runbook; empty if nothing is to be done. */
export const doInWords = (shoot: ShootStatus): string => {
  const runbook = runbookToShow(shoot);
  return [shoot.do, runbook === undefined ? '' : `runbook ${runbook}`].filter((text) => text !== '').join('; ');
};

interface Row {
  readonly shoot: ShootStatus;
  readonly cells: readonly string[];
  /** The words after the cells, each begins a line. */
  readonly words: readonly string[];
}

const rowOf = (shoot: ShootStatus, { title, at }: { readonly title: string; readonly at: string }): Row => {
  const next = nextInWords(shoot, at);
  const what = doInWords(shoot);
  return {
    shoot,
    cells: [title, stateInWords(shoot), sinceOf(shoot, at)].map(escapeControls),
    words: [
      shoot.why,
      ...(next === '' || shoot.state === 'healthy' ? [] : [`next: ${next}`]),
      ...(what === '' ? [] : [`do: ${what}`]),
    ],
  };
};

const headings = ['SHOOT', 'STATE', 'SINCE'] as const;
/** Narrowest column of words; below that they go under their row. */
const fewestColumns = 44;

const linesOf = (rows: readonly Row[], columns: number): readonly string[] => {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  const left = widths.reduce((sum, width) => sum + width + 2, 0);
  // A command must stay in one piece.
  const longest = Math.max(
    ...rows.flatMap(({ words }) => words.flatMap((text) => text.split(' '))).map(({ length }) => length),
  );
  const isBeside = columns - left >= Math.max(fewestColumns, Math.min(longest, columns - 4));
  const indent = isBeside ? left : 4;
  const cellsOf = (cells: readonly string[], state?: ShootStatus['state']): string =>
    cells
      .map((cell, column) => {
        const padded = cell.padEnd(widths[column] ?? 0);
        return column === 1 && state !== undefined ? paint(state, padded) : padded;
      })
      .join('  ');
  const rest = (words: readonly string[]): readonly string[] =>
    words.flatMap((text) => wrapped(text, columns - indent));
  return [
    isBeside ? `${cellsOf(headings)}  WHY / NEXT / DO` : cellsOf(headings).trimEnd(),
    ...rows.flatMap(({ cells, words, shoot }) => {
      const head = cellsOf(cells, shoot.state);
      const lines = rest(words);
      const below = lines.map((line) => `${' '.repeat(indent)}${line}`);
      return isBeside ? [`${head}  ${lines[0] ?? ''}`.trimEnd(), ...below.slice(1)] : [head.trimEnd(), ...below];
    }),
  ];
};

/** Formats shoots for a program: a line each with all columns, separated by two or more spaces. */
const pipedLines = (shoots: readonly ShootStatus[], at: string): readonly string[] => {
  const cells = shoots.map((shoot) =>
    [
      titleOf(shoot),
      stateInWords(shoot),
      sinceOf(shoot, at),
      shoot.why,
      nextInWords(shoot, at) || '-',
      doInWords(shoot) || '-',
    ].map(escapeControls),
  );
  const rows = [[...headings, 'WHY', 'NEXT', 'DO'], ...cells];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

export interface TableOptions {
  /** True if healthy shoots are listed, too, and nothing is folded. */
  readonly all: boolean;
  /** Width of the terminal. Absent: the output is none. */
  readonly columns?: number;
}

/** Returns all shoots, or only those that need eyes. */
const shownOf = ({ shoots }: SeedStatus, all: boolean): readonly ShootStatus[] =>
  all ? shoots : shoots.filter(needsEyes);

const tableLines = (status: SeedStatus, all: boolean, columns: number): readonly string[] => {
  const { at } = status;
  const shoots = shownOf(status, all);
  const groups = all ? shoots.map((first) => ({ first, shoots: [first] })) : foldShoots(shoots);
  const rows = groups.map(({ first, shoots: those }) => {
    const title = those.length === 1 ? titleOf(first) : `${String(those.length)} shoots`;
    return rowOf(first, { title, at });
  });
  const folded = groups.some(({ shoots: those }) => those.length > 1);
  return [
    ...linesOf(rows, columns),
    ...(folded ? ['', ...wrapped('A row of several shoots shows one of them (--all lists all).', columns)] : []),
  ];
};

/** Formats the status for people, without control characters other than line feeds and colours. */
export const formatStatus = (status: SeedStatus, { all, columns }: TableOptions): string => {
  const shoots = shownOf(status, all);
  const head = headLines(status, columns);
  const table = columns === undefined ? pipedLines(shoots, status.at) : tableLines(status, all, columns);
  return `${[...head, ...(shoots.length === 0 ? [] : ['', ...table])].join('\n')}\n`;
};
