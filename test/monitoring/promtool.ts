import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from '../documents/markdown.ts';

/** Path of promtool. It must match the path that tools/promtool/build.sh computes. */
const path = (): string => {
  const module = readFileSync(`${root}tools/promtool/go.mod`, 'utf8');
  const [, version = ''] = /github\.com\/prometheus\/prometheus (v\S+)/.exec(module) ?? [];
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'dependency-watchdog', 'promtool', version, 'promtool');
};

export interface PromtoolResult {
  readonly status: number | null;
  /** Standard output, followed by standard error. */
  readonly output: string;
}

/** Runs promtool. Throws if it has not been built, because a test that checks nothing would pass. */
export const promtool = (args: readonly string[], { input = '', cwd = root } = {}): PromtoolResult => {
  const file = path();
  if (!existsSync(file)) throw new Error(`${file} not found; run \`make envtest\``);
  const { status, stdout, stderr, error } = spawnSync(file, args, { input, cwd, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, output: stdout + stderr };
};
