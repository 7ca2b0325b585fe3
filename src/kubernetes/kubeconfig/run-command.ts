import { spawn } from 'node:child_process';

const mostOutputBytes = 1024 * 1024;

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a program without a shell and resolves with what it wrote to standard output; its standard error goes to ours. Aborting kills it.
 * Rejects with the signal's reason, or an error whose `code` is Node's (ENOENT: no such program), `EXIT` or `EOUTPUT`.
 */
export const runCommand = ({ command, args, env }: Command, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'inherit'], windowsHide: true });
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (act: () => void): void => {
      signal.removeEventListener('abort', abort);
      act();
    };
    const fail = (error: unknown): void =>
      settle(() => {
        child.kill('SIGKILL');
        reject(error);
      });
    const abort = (): void => fail(signal.reason);
    child.on('error', fail);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > mostOutputBytes) fail(Object.assign(new Error('wrote more than 1 MiB'), { code: 'EOUTPUT' }));
    });
    child.on('close', (status, killedBy) => {
      if (status === 0) settle(() => resolve(Buffer.concat(chunks).toString('utf8')));
      else fail(Object.assign(new Error(`ended with ${String(killedBy ?? status)}`), { code: 'EXIT' }));
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
