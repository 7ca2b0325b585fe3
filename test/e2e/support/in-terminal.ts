import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../../bin/dwd', import.meta.url));

/** Of util-linux. */
const pseudoTerminal = 'script';

/** What Ctrl-C and Ctrl-D send. */
export const interrupt = '\u0003';
export const endOfInput = '\u0004';

/** Keys that are typed as soon as this text is on the screen. */
export interface TypedAnswer {
  readonly after: string;
  readonly keys: string;
}

export interface TerminalRun {
  readonly code: unknown;
  /** All that was on the screen, what was typed included. */
  readonly text: string;
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Runs a command line of a shell that begins with `dwd` in a terminal of 80 columns, as util-linux's `script` makes one, where nothing is drawn in
 * place.
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
