/** `good` and `bad` are for results, `act` for what the narrator does himself. */
export type Tone = 'plain' | 'good' | 'bad' | 'act';

/** One line of the story. */
export interface Line {
  readonly tone: Tone;
  /** Names of the shoots it is about; empty for all or none. */
  readonly about: string;
  readonly text: string;
}

export const line = (text: string, about = '', tone: Tone = 'plain'): Line => ({ text, about, tone });

export const width = 80;

/** Words in lines of at most `columns`; a word that is longer stands alone. */
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

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

/** A line for the terminal, told `at` milliseconds after the start: at most 80 columns each, the time in front of each. */
export const render = ({ about, text }: Line, at: number): readonly string[] => {
  const prefix = `${seconds(at).padStart(6)}  ${about.padEnd(7)}  `;
  // What the text itself is indented by (it may begin with spaces) holds for its further lines too.
  const indent = /^ */.exec(text)?.[0] ?? '';
  return wrap(text.trimStart(), width - prefix.length - indent.length).map((part) => `${prefix}${indent}${part}`);
};
