import type { Tone } from '../line.ts';

/** A piece of a row of the screen, without control characters. */
export interface Segment {
  readonly text: string;
  readonly tone: Tone | 'dim';
}

/** One row of the screen. */
export type Row = readonly Segment[];

export const segment = (text: string, tone: Segment['tone'] = 'plain'): Segment => ({ text, tone });

export const widthOf = (row: Row): number => row.reduce((sum, { text }) => sum + text.length, 0);

/** Exactly as wide as `columns`: what is too long is cut, what is too short is filled with spaces. */
export const fit = (row: Row, columns: number): Row => {
  let rest = columns;
  const kept = row.flatMap(({ text, tone }) => {
    const part = text.slice(0, rest);
    rest -= part.length;
    return part === '' ? [] : [segment(part, tone)];
  });
  return rest > 0 ? [...kept, segment(' '.repeat(rest))] : kept;
};

/** Rows of two panes side by side; the shorter one is filled up. */
export const beside = (left: readonly Row[], right: readonly Row[], columns: number): readonly Row[] => {
  const gap = 2;
  const width = Math.floor((columns - gap) / 2);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [
    ...fit(left[index] ?? [], width),
    segment(' '.repeat(gap)),
    ...(right[index] ?? []),
  ]);
};
