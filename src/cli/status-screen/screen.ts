import { shootPane } from './pane.ts';
import { type Line, type Paint, type Row, beside, fit, segment, widthOf } from './row.ts';
import type { StatusSnapshot } from './snapshot.ts';
import { tableRows } from './table.ts';

export interface ScreenEvent {
  /** Milliseconds since the screen was opened. */
  readonly at: number;
  readonly line: Line;
}

export interface ScreenInput {
  /** Absent before the first snapshot. */
  readonly snapshot?: StatusSnapshot;
  /** Left end of the first row; `connection` is its right end. */
  readonly title: string;
  readonly connection: string;
  /** Milliseconds since the screen was opened. */
  readonly openMs: number;
  /** Name of the shoot that is shown in full; `compared` is a shoot to show beside it. */
  readonly selected: string;
  readonly compared?: string;
  /** Remarks of the caller by the name of a shoot, shown in addition to its status. */
  readonly notes: ReadonlyMap<string, string>;
  /** Events, oldest first. */
  readonly events: readonly ScreenEvent[];
  /** Lines that replace the shoots. A long line continues in the next row. */
  readonly page?: readonly string[];
  /** Last row, which is shown even if the screen is too small for the others. */
  readonly keys: string;
}

const minutes = (ms: number): string =>
  `${String(Math.floor(ms / 60_000))}:${String(Math.floor(ms / 1_000) % 60).padStart(2, '0')}`;

const header = ({ title, connection, openMs, snapshot }: ScreenInput, columns: number): Row => {
  const leaders = snapshot?.leaders.join(', ') ?? '';
  const left = [segment(title, 'strong'), segment(`  ${minutes(openMs)}  ${leaders || 'no leader'}`)];
  const gap = Math.max(2, columns - widthOf(left) - connection.length);
  return [...left, segment(' '.repeat(gap)), segment(connection, 'dim')];
};

const panes = ({ selected, compared, notes }: ScreenInput, snapshot: StatusSnapshot, columns: number) => {
  const paneOf = (name: string): readonly Row[] => shootPane(snapshot, name, notes.get(name));
  return compared === undefined ? paneOf(selected) : beside(paneOf(selected), paneOf(compared), columns);
};

/** Draws the table and the panes. The table has as many shoots as leave room for the panes, but at least one. */
const shootRows = (input: ScreenInput, columns: number, room: number): readonly Row[] => {
  const { snapshot, selected } = input;
  if (snapshot === undefined) return [[segment('loading ...', 'dim')]];
  const below = panes(input, snapshot, columns);
  return [...tableRows(snapshot, selected, Math.max(1, room - 1 - below.length)), ...below];
};

const eventRows = (events: readonly ScreenEvent[], columns: number, room: number): readonly Row[] => {
  if (room < 2) return [];
  const latest = events
    .slice(-(room - 1))
    .map(({ at, line: { about, text, tone } }) => [
      segment(`${minutes(at).padStart(5)}  ${about.padEnd(7)}  `, 'dim'),
      segment(text, tone),
    ]);
  return [[segment(`recent changes ${'-'.repeat(columns)}`, 'dim')], ...latest];
};

const pageRows = (page: readonly string[], columns: number): readonly Row[] =>
  page.flatMap((text) =>
    Array.from({ length: Math.ceil(text.length / columns) }, (_, index) => [
      segment(text.slice(index * columns, (index + 1) * columns)),
    ]),
  );

/** Draws the screen: one line per row, each as wide as the screen. Pure. */
export const statusScreen = (
  input: ScreenInput,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  paint: Paint,
): readonly string[] => {
  const room = Math.max(0, rows - 1);
  const page = input.page === undefined ? shootRows(input, columns, room - 1) : pageRows(input.page, columns);
  const body = [header(input, columns), ...page].slice(0, room);
  const news = input.page === undefined ? eventRows(input.events, columns, room - body.length) : [];
  const filling = Array.from({ length: room - body.length - news.length }, () => []);
  const all: readonly Row[] = [...body, ...news, ...filling, [segment(input.keys, 'strong')]];
  return all.map((row) =>
    fit(row, columns)
      .map(({ text, tone }) => paint(tone, text))
      .join(''),
  );
};
