import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtProgram, missingProgram } from '../../built-program.ts';
import type { Missing } from '../../gate.ts';

export const chart = join(fileURLToPath(new URL('../../..', import.meta.url)), 'deploy', 'chart');

const helm = builtProgram('helm', 'helm.sh/helm/v4');

export const missingHelm = (): Missing => missingProgram(helm);

/** Runs helm without the user's configuration. Resolves to stdout, rejects with stderr. */
export const runHelm = async (...args: readonly string[]): Promise<string> => {
  const home = { HOME: '/nonexistent', XDG_CACHE_HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };
  const { stdout } = await promisify(execFile)(helm, args, { env: home, maxBuffer: 1024 * 1024 });
  return stdout;
};
