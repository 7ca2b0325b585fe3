import { escapeControls } from '../../telemetry/index.ts';

/** Meaning of a text's colour: `good` and `bad` for results, `strong` for emphasis. */
export type Tone = 'plain' | 'good' | 'bad' | 'strong' | 'dim';

/** Adds the colour of a tone to a text, or returns the text unchanged. */
export type Paint = (tone: Tone, text: string) => string;

/** A piece of a row, without control characters. */
export interface Segment {
  readonly text: string;
  readonly tone: Tone;
}

export type Row = readonly Segment[];

/** A sentence about one shoot; `about` is empty if it is about all shoots or none. */
export interface Line {
  readonly tone: Tone;
  readonly about: string;
  readonly text: string;
}

export const line = (text: string, about = '', tone: Tone = 'plain'): Line => ({ text, about, tone });

export const segment = (text: string, tone: Tone = 'plain'): Segment => ({ text: escapeControls(text), tone });

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

export const plural = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

export const widthOf = (row: Row): number => row.reduce((sum, { text }) => sum + text.length, 0);

/** Cuts a row to `columns`, or fills it with spaces. */
export const fit = (row: Row, columns: number): Row => {
  let rest = columns;
  const kept = row.flatMap(({ text, tone }) => {
    const part = text.slice(0, rest);
    rest -= part.length;
    return part === '' ? [] : [{ text: part, tone }];
  });
  return rest > 0 ? [...kept, segment(' '.repeat(rest))] : kept;
};

/** Joins the rows of two panes side by side. Empty rows fill the shorter pane. */
export const beside = (left: readonly Row[], right: readonly Row[], columns: number): readonly Row[] => {
  const gap = 2;
  const width = Math.floor((columns - gap) / 2);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [
    ...fit(left[index] ?? [], width),
    segment(' '.repeat(gap)),
    ...(right[index] ?? []),
  ]);
};
