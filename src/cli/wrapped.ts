import { escapeControls } from '../telemetry/index.ts';

/** As many words on a line as fit; a word that is longer than a line has one for itself. Without control characters. */
export const wrapped = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of escapeControls(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};
