import { type Line, seconds } from '../../src/cli/status-screen/index.ts';

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

/** Formats a line in at most 80 columns, with the time in front: `at` milliseconds after the start. */
export const render = ({ about, text }: Line, at: number): readonly string[] => {
  const prefix = `${seconds(at).padStart(6)}  ${about.padEnd(7)}  `;
  // Further lines are indented as the text itself is.
  const indent = /^ */.exec(text)?.[0] ?? '';
  return wrap(text.trimStart(), width - prefix.length - indent.length).map((part) => `${prefix}${indent}${part}`);
};
