import { readFileSync } from 'node:fs';
import { documentAt, root } from '../../documents/markdown.ts';
import { type TypedAnswer, type TerminalRun, inTerminal } from './terminal.ts';

const prompt = '$ ';

/** Replaces the parts that differ from run to run: times, and the version of the program. */
const inShape = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\((?:\d+[hms])+\)/g, '(AGE)')
    .replaceAll(/\bdwd \d+\.\d+\.\d+[\w.-]*/g, 'dwd VERSION');

/** Runs the commands of a document in a terminal, and compares their output. */
export interface DocumentedRuns {
  readonly file: string;
  /** Runs a command. Throws if the document does not show it. `flags` replace the reader's environment. */
  run(command: string, flags: readonly string[], answer?: TypedAnswer): Promise<TerminalRun>;
  /** Returns the document with the printed output where that differs in more than times and version. Throws if a shown command was not run. */
  text(): string;
}

/** Reads a document. Each of its `console` blocks shows one command, `$ dwd ...`, with its output below. */
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
