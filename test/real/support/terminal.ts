import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../envtest/waiting.ts';
import { type Program, type ProgramOptions, superviseProcess } from './program.ts';

/** A command of util-linux. */
const pseudoTerminal = 'script';

const launcher = fileURLToPath(new URL('../../../bin/dwd', import.meta.url));

/** The characters that Ctrl-C and Ctrl-D send. */
export const interrupt = '\u0003';
export const endOfInput = '\u0004';

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Starts a command line that begins with `dwd` in a terminal of 80 columns and 24 rows. */
export const startInTerminal = (command: string, { env = {} }: ProgramOptions = {}): Program => {
  const program = [process.execPath, launcher].map(quoted).join(' ');
  const line = `stty cols 80 rows 24; exec ${command.replace(/^dwd/, () => program)}`;
  return superviseProcess(
    spawn(pseudoTerminal, ['--quiet', '--return', '--command', line, '/dev/null'], {
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
    }),
  );
};

/** Keys that are typed as soon as this text is on the screen. */
export interface TypedAnswer {
  readonly after: string;
  readonly keys: string;
}

export interface TerminalRun {
  readonly code: number | NodeJS.Signals;
  /** All text that was on the screen, including the typed keys. */
  readonly text: string;
}

/** Runs a command line that begins with `dwd` in a terminal that cannot move the cursor. */
export const inTerminal = async (
  command: string,
  flags: readonly string[],
  answer?: TypedAnswer,
): Promise<TerminalRun> => {
  const program = startInTerminal([command, ...flags.map(quoted)].join(' '), { env: { TERM: 'dumb' } });
  let hasEnded = false;
  void program.ended.then(() => (hasEnded = true));
  if (answer !== undefined) {
    await waitFor({ what: answer.after }, () => hasEnded || program.output().includes(answer.after));
    program.type(answer.keys);
  }
  return { code: await program.ended, text: program.output().replaceAll('\r\n', '\n') };
};
