import { escapeControls } from '../telemetry/index.ts';

/** Wraps text into lines of at most `columns`, and escapes control characters. A longer word gets its own line. */
export const wrapped = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of escapeControls(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};
