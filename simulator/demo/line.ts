import { textColumns, wrapped } from '../../src/telemetry/index.ts';

/** Meaning of a text's colour: `good` and `bad` for results, `strong` for emphasis. */
export type Tone = 'plain' | 'good' | 'bad' | 'strong';

/** A sentence about one shoot. */
export interface Line {
  readonly tone: Tone;
  readonly about: string;
  readonly text: string;
}

export const line = (text: string, about: string, tone: Tone = 'plain'): Line => ({ text, about, tone });

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

/** Formats a line in at most 80 columns, and prefixes its time. `at`: milliseconds since the start. */
export const render = ({ about, text }: Line, at: number): readonly string[] => {
  const prefix = `${seconds(at).padStart(6)}  ${about.padEnd(7)}  `;
  // Continuation lines have the indentation of the first line.
  const indent = /^ */.exec(text)?.[0] ?? '';
  return wrapped(text.trimStart(), textColumns - prefix.length - indent.length).map(
    (part) => `${prefix}${indent}${part}`,
  );
};
