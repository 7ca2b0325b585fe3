import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export const chart = join(root, 'deploy', 'chart');

/** Returns the path of helm. tools/helm/build.sh computes the same path: the two must agree. */
const helm = (): string => {
  const [, version = ''] =
    /helm\.sh\/helm\/v4 (v\S+)/.exec(readFileSync(join(root, 'tools/helm/go.mod'), 'utf8')) ?? [];
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'dependency-watchdog', 'helm', version, 'helm');
};

/** Returns true if tools/helm/build.sh has built helm. */
export const isHelmThere = (): boolean => existsSync(helm());

/** Runs helm without the user's configuration. Resolves to stdout, rejects with stderr. */
export const runHelm = async (...args: readonly string[]): Promise<string> => {
  const home = { HOME: '/nonexistent', XDG_CACHE_HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };
  const { stdout } = await promisify(execFile)(helm(), args, { env: home, maxBuffer: 1024 * 1024 });
  return stdout;
};
