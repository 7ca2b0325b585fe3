/** Meaning of a text's colour: `good` and `bad` for results, `strong` for emphasis. */
export type Tone = 'plain' | 'good' | 'bad' | 'strong' | 'dim';

/** A sentence about one shoot; `about` is empty if it is about all shoots or none. */
export interface Line {
  readonly tone: Tone;
  readonly about: string;
  readonly text: string;
}

export const line = (text: string, about = '', tone: Tone = 'plain'): Line => ({ text, about, tone });

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

export const width = 80;

/** Wraps text at `columns`. A longer word gets a line of its own. */
export const wrap = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (longer.length > columns && current !== '') {
      lines.push(current);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current];
};

/** Formats a line in at most 80 columns, and prefixes its time. `at`: milliseconds since the start. */
export const render = ({ about, text }: Line, at: number): readonly string[] => {
  const prefix = `${seconds(at).padStart(6)}  ${about.padEnd(7)}  `;
  // Continuation lines have the indentation of the first line.
  const indent = /^ */.exec(text)?.[0] ?? '';
  return wrap(text.trimStart(), width - prefix.length - indent.length).map((part) => `${prefix}${indent}${part}`);
};
