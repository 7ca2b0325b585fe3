import { type Line, seconds } from '../../src/cli/status-screen/index.ts';

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
