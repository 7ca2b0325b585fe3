import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Missing } from './gate.ts';

const root = new URL('..', import.meta.url);

/** Returns the version, such as `v1.36.3`, that the Go module in a folder of `tools` requires of another. */
export const requiredVersion = (folder: string, module: string): string => {
  const file = `tools/${folder}/go.mod`;
  const version = readFileSync(new URL(file, root), 'utf8')
    .split('\n')
    .flatMap((line) => line.split(`${module} v`).slice(1))[0]
    ?.split(' ')[0];
  if (version === undefined) throw new Error(`${file} does not require ${module}`);
  return `v${version}`;
};

/** Directory of a cache of tools/envtest/build.sh, which computes the same path. */
export const buildCache = (...path: readonly string[]): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dependency-watchdog', ...path);

/** Path of a program that tools/envtest/build.sh builds in its own Go module. */
export const builtProgram = (name: string, module: string): string =>
  buildCache(name, requiredVersion('envtest/upstream', module), name);

export const missingProgram = (path: string): Missing =>
  existsSync(path) ? undefined : `${path} not found; run \`make envtest\``;
