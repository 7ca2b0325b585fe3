import { formatAge } from '../kubernetes/api/duration.ts';
import { podOfHolder } from '../kubernetes/api/lease.ts';
import type { PauseInForce } from '../prober/status/index.ts';
import { type SeedStatus, type SeenShoot, isPlainHealthy } from '../status/index.ts';
import { escapeControls } from '../telemetry/index.ts';
import { initials, plural } from './status-screen/index.ts';
import { wrapped } from './wrapped.ts';

/** Formats the time between two RFC 3339 timestamps. */
export const between = (from: string, to: string): string => formatAge(Date.parse(to) - Date.parse(from));

/** Formats a timestamp as `2026-01-01 14:00:00 UTC`. */
export const utc = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** Returns the title of a shoot, such as `dev/one`. */
export const titleOf = ({ project, name }: SeenShoot): string => (project === undefined ? name : `${project}/${name}`);

/** Returns the command, or the change of the configuration, that ends a pause. */
const resuming = ({ on }: PauseInForce, namespace: string): string => {
  if (on === 'configuration') return 'removing `paused` from the configuration';
  return on === 'all' ? 'dwd resume --all' : `dwd resume --shoot ${on ?? namespace}`;
};

const pauseRemedyOf = ({ namespace, paused, state, unmet = false }: SeenShoot, at: string): readonly string[] => {
  if (paused === null) return [];
  const rest = paused.until === undefined ? '' : ` (${between(at, paused.until)})`;
  const resumed = resuming(paused, namespace);
  if (state !== 'paused') return [`; PAUSED${rest}: ${resumed} ends that`];
  return unmet ? [`${rest}: ${resumed} protects now`] : [];
};

/** Returns how to end a pause, and which resources are not protected because of `ignore-scaling`. */
const remedyOf = (shoot: SeenShoot, at: string): string => {
  const { ignored = [] } = shoot;
  return [
    ...pauseRemedyOf(shoot, at),
    ...(ignored.length > 0
      ? [`; NOT PROTECTED: ignore-scaling on ${ignored.map(({ name }) => initials(name)).join(', ')}`]
      : []),
  ].join('');
};

/** Returns the next step, such as `next probe in 7s`, and what the operator should know or do. */
export const nextOf = (shoot: SeenShoot, at: string): string => `${stepOf(shoot, at)}${remedyOf(shoot, at)}`;

const stepOf = ({ next }: SeenShoot, at: string): string => {
  if (next.at === undefined) return next.text;
  const restMs = Date.parse(next.at) - Date.parse(at);
  return restMs <= 0 ? `${next.text} now` : `${next.text} in ${formatAge(restMs)}`;
};

/** Returns `kcm 2`. */
const oneHeld = ({ name, replicas }: SeenShoot['held'][number]): string => `${initials(name)} ${String(replicas)}`;

const heldOf = ({ held }: SeenShoot): string => (held.length === 0 ? '-' : held.map(oneHeld).join(', '));

const leaderSentence = ({ lease, source, at, prober }: SeedStatus): string => {
  if (lease === undefined || lease.holder === '') {
    if (prober?.leads === true) return `${prober.identity} leads.`;
    if (lease === undefined) return 'The leader is unknown.';
    return 'No replica leads: nothing is probed, and nothing new is protected.';
  }
  const { holder, since, isFresh } = lease;
  const when = since === undefined ? '' : ` since ${utc(since)} (${between(since, at)})`;
  if (!isFresh) return `${holder} has led${when}, but no longer renews its Lease.`;
  return `${holder} leads${when}${source === 'leader' ? '.' : ', but did not respond.'}`;
};

const replicaSentences = ({ replicas, lease, prober }: SeedStatus): readonly string[] => {
  if (replicas === undefined) return [];
  const leader = podOfHolder(lease?.holder ?? '');
  const others = replicas.filter(({ pod }) => pod !== leader);
  const words = others.map(
    ({ pod, version, isReady }) => `${pod} ${version === '' ? '' : `(${version})`}${isReady ? '' : ' not ready'}`,
  );
  const standby = prober === undefined ? '' : `, ${prober.standby}`;
  if (replicas.length === 0) {
    return ['Standbys: unknown, because no pod of the prober was found (--namespace, --selector).'];
  }
  return [words.length === 0 ? 'No standby.' : `Standby${standby}: ${words.map((one) => one.trim()).join(', ')}.`];
};

const proberSentences = ({ prober, at }: SeedStatus): readonly string[] => {
  if (prober === undefined) return [];
  const { version, lastRoundEndedAt, missingRights, configHash, dryRun, paused } = prober;
  return [
    `Version ${version}, configuration ${configHash}${dryRun ? ', DRY RUN: nothing is written' : ''}.`,
    lastRoundEndedAt === undefined
      ? 'No probe round has ended yet.'
      : `Last probe round ended ${between(lastRoundEndedAt, at)} ago.`,
    missingRights.length === 0 ? 'No right is missing.' : `MISSING RIGHTS: ${missingRights.join('; ')}.`,
    ...(paused === null ? [] : [`ALL SHOOTS PAUSED until ${paused.until ?? 'it is taken back'}: ${paused.reason}.`]),
  ];
};

/** Returns the paragraph about the leader: its name, since when it leads, its version and configuration. */
const paragraphOf = (status: SeedStatus, columns: number): readonly string[] => {
  const sentences = [leaderSentence(status), ...replicaSentences(status), ...proberSentences(status)];
  return [
    ...wrapped(sentences.join(' '), columns),
    ...status.attention.flatMap((text) => wrapped(`! ${text}`, columns)),
    ...status.problems.flatMap((text) => wrapped(`? ${text}`, columns)),
    ...(status.source === 'objects' ? wrapped('Read from the objects of the seed.', columns) : []),
  ];
};

const headings = ['SHOOT (project/name)', 'STATE', 'LEASES', 'SINCE', 'HELD', 'NEXT'] as const;

const cellsOf = (shoot: SeenShoot, at: string): readonly string[] => {
  const { state, candidates, expired, since, unmet = false, leftOut = 0 } = shoot;
  const others = leftOut === 0 ? '' : `, ${String(leftOut)} not counted`;
  const leases = candidates === 0 ? '-' : `${String(expired)}/${String(candidates)} expired${others}`;
  const shown = state === 'healthy' ? state : state.toUpperCase();
  return [
    titleOf(shoot),
    unmet ? `! ${shown}` : shown,
    leases,
    since === undefined ? '-' : between(since, at),
    heldOf(shoot),
    nextOf(shoot, at),
  ].map(escapeControls);
};

/** Number of columns that always stay in the row. The others go below it if the terminal is too narrow. */
const fixed = 4;

const linesOf = (rows: readonly (readonly string[])[], columns: number): readonly string[] => {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  const shown = total <= columns ? headings.length : fixed;
  const inRow = (row: readonly string[]): string =>
    row
      .slice(0, shown)
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const below = (row: readonly string[]): readonly string[] =>
    row.slice(shown).flatMap((text, index) => {
      if (text === '-') return [];
      const label = `    ${(headings[shown + index] ?? '').toLowerCase()}: `;
      return wrapped(text, columns - label.length).map(
        (line, nth) => `${nth === 0 ? label : ' '.repeat(label.length)}${line}`,
      );
    });
  return all.flatMap((row, index) => [inRow(row), ...(index === 0 ? [] : below(row))]);
};

const countOf = ({ source, total }: SeedStatus, shown: number, isOne: boolean): string => {
  const rest = total - shown;
  if (source === 'objects') {
    if (total === 0) return 'No shoot was found.';
    return `${String(shown)} of ${plural(total, 'shoot')} held or paused; without a prober the others are unknown.`;
  }
  if (total === 0) return isOne ? 'That shoot is not probed.' : 'No shoot is probed.';
  if (shown === 0) return `${plural(total, 'shoot')}, all healthy (--all lists them).`;
  return rest === 0 ? `${plural(total, 'shoot')}.` : `${plural(rest, 'more shoot')} healthy (--all lists them).`;
};

export interface TableOptions {
  readonly all: boolean;
  /** True if the user requested a single shoot. */
  readonly isOne?: boolean;
  readonly columns: number;
}

/** Returns all shoots, or only those that are not plainly healthy. */
export const listed = ({ shoots }: SeedStatus, all: boolean): readonly SeenShoot[] =>
  all ? shoots : shoots.filter((shoot) => !isPlainHealthy(shoot));

/** Returns the rows of a table with their heading. Only a line with a word longer than `columns` exceeds `columns`. */
export const tableLines = (shoots: readonly SeenShoot[], at: string, columns: number): readonly string[] =>
  linesOf(
    shoots.map((shoot) => cellsOf(shoot, at)),
    columns,
  );

/** Formats the status for people, without control characters other than line feeds. */
export const formatStatus = (status: SeedStatus, { all, columns, isOne = false }: TableOptions): string => {
  const shoots = listed(status, all);
  const table = shoots.length === 0 ? [] : ['', ...tableLines(shoots, status.at, columns)];
  return `${[...paragraphOf(status, columns), ...table, '', countOf(status, shoots.length, isOne)].join('\n')}\n`;
};
