import { readFileSync } from 'node:fs';
import { documentAt, root } from '../../documents/markdown.ts';
import { type TypedAnswer, type TerminalRun, inTerminal } from './in-terminal.ts';

const prompt = '$ ';

/** Without what differs from run to run: times, and the version of the program. */
const inShape = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\((?:\d+[hms])+\)/g, '(AGE)')
    .replaceAll(/\bdwd \d+\.\d+\.\d+[\w.-]*/g, 'dwd VERSION');

/** Commands that a document shows, run in a terminal, and what they print. */
export interface DocumentedRuns {
  readonly file: string;
  /** Throws where the document does not show this command. `flags`: those that the reader has in his environment. */
  run(command: string, flags: readonly string[], answer?: TypedAnswer): Promise<TerminalRun>;
  /** The document with what has been printed, where that has another shape. Throws where it shows a command that was not run. */
  text(): string;
}

/** Each `console` block of the document shows one command: `$ dwd ...`, and below it what that prints. */
export const documentedRuns = (path: string): DocumentedRuns => {
  const file = `${root}${path}`;
  const blocks = new Map(
    documentAt(path).consoles.map((block) => [block.split('\n', 1)[0]?.slice(prompt.length) ?? '', block]),
  );
  const printed = new Map<string, string>();
  return {
    file,
    run: async (command, flags, answer) => {
      if (!blocks.has(command)) throw new Error(`${path} does not show: ${command}`);
      const run = await inTerminal(command, flags, answer);
      printed.set(command, `${prompt}${command}\n${run.text.trimEnd()}`);
      return run;
    },
    text: () =>
      [...blocks].reduce(
        (text, [command, block]) => {
          const now = printed.get(command);
          if (now === undefined) throw new Error(`${path} shows a command that was not run: ${command}`);
          return inShape(now) === inShape(block) ? text : text.replace(block, () => now);
        },
        readFileSync(file, 'utf8'),
      ),
  };
};
