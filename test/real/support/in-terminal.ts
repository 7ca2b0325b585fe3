import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../../bin/dwd', import.meta.url));

/** A command of util-linux. */
const pseudoTerminal = 'script';

/** The characters that Ctrl-C and Ctrl-D send. */
export const interrupt = '\u0003';
export const endOfInput = '\u0004';

/** Keys that are typed as soon as this text is on the screen. */
export interface TypedAnswer {
  readonly after: string;
  readonly keys: string;
}

export interface TerminalRun {
  readonly code: unknown;
  /** All text that was on the screen, including the typed keys. */
  readonly text: string;
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Runs a shell command line that begins with `dwd`, in a terminal of 80 columns (made by util-linux's `script`) that cannot move the cursor.
 */
export const inTerminal = async (
  command: string,
  flags: readonly string[],
  answer?: TypedAnswer,
): Promise<TerminalRun> => {
  const program = [process.execPath, launcher].map(quoted).join(' ');
  const line = `stty cols 80; exec ${command.replace(/^dwd/, () => program)} ${flags.map(quoted).join(' ')}`;
  const child = spawn(pseudoTerminal, ['--quiet', '--return', '--command', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, TERM: 'dumb', NO_COLOR: '1' },
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let text = '';
  let isAnswered = false;
  const read = (chunk: Buffer): void => {
    text += chunk.toString();
    if (answer === undefined || isAnswered || !text.includes(answer.after)) return;
    isAnswered = true;
    child.stdin.write(answer.keys);
  };
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code] = (await once(child, 'close')) as readonly unknown[];
  process.removeListener('exit', kill);
  return { code, text: text.replaceAll('\r\n', '\n') };
};
