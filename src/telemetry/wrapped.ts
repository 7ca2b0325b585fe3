import { escapeControls } from './escape-controls.ts';

/** Columns of text that does not depend on the terminal. */
export const textColumns = 80;

export interface WrapOptions {
  /** True if words that are longer than a line, such as URLs and names, are broken. Default false: such a word gets its own line. */
  readonly breaksWords?: boolean;
}

const piecesOf = (word: string, columns: number): readonly string[] => {
  const letters = Array.from(word);
  const pieces: string[] = [];
  for (let at = 0; at < letters.length; at += columns) pieces.push(letters.slice(at, at + columns).join(''));
  return pieces;
};

/** Wraps text into lines of at most `columns`, and escapes control characters. */
export const wrapped = (
  text: string,
  columns: number,
  { breaksWords = false }: WrapOptions = {},
): readonly string[] => {
  const words = escapeControls(text).split(' ');
  const lines: string[] = [];
  for (const word of breaksWords ? words.flatMap((long) => piecesOf(long, columns)) : words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

/** Wraps text like `wrapped`, into lines of at most `textColumns` that are indented. */
export const indented = (text: string, indent = 2, options: WrapOptions = {}): readonly string[] =>
  wrapped(text, textColumns - indent, options).map((line) => `${' '.repeat(indent)}${line}`);
