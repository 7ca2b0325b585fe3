import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface KubectlOptions {
  readonly command: string;
  readonly kubeconfig: string;
  /** Directory for kubectl's caches, and its home directory. */
  readonly directory: string;
  readonly args: readonly string[];
  readonly stdin?: string | undefined;
}

/** Runs kubectl to its end. Resolves to stdout. Rejects with stderr if the exit code is not 0. */
export async function runKubectl({ command, kubeconfig, directory, args, stdin }: KubectlOptions): Promise<string> {
  const child = spawn(command, ['--kubeconfig', kubeconfig, '--cache-dir', join(directory, 'kubectl'), ...args], {
    env: { HOME: directory, KUBERC: 'off' },
  });
  child.stdin.end(stdin ?? '');
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const [[code], stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
