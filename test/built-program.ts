import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Missing } from './gate.ts';

const root = new URL('..', import.meta.url);

/** Path of a program that tools/envtest/build.sh builds from the Go module in tools/NAME. It must match the path that the script computes. */
export const builtProgram = (name: string, module: string): string => {
  const required = readFileSync(new URL(`tools/${name}/go.mod`, root), 'utf8');
  const version = required
    .split('\n')
    .flatMap((line) => line.split(`${module} v`).slice(1))[0]
    ?.split(' ')[0];
  if (version === undefined) throw new Error(`tools/${name}/go.mod does not require ${module}`);
  return join(
    process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    'dependency-watchdog',
    name,
    `v${version}`,
    name,
  );
};

export const missingProgram = (path: string): Missing =>
  existsSync(path) ? undefined : `${path} not found; run \`make envtest\``;
