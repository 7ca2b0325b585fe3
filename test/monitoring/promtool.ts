import { spawnSync } from 'node:child_process';
import { builtProgram, missingProgram } from '../built-program.ts';
import { root } from '../documents/markdown.ts';
import { describeUnless } from '../gate.ts';

const file = builtProgram('promtool', 'github.com/prometheus/prometheus');

/** `describe` for tests that need promtool. */
export const describePromtool = (name: string, tests: () => void): void =>
  describeUnless([missingProgram(file)], name, tests);

export interface PromtoolResult {
  readonly status: number | null;
  /** Standard output, followed by standard error. */
  readonly output: string;
}

/** Runs promtool. */
export const promtool = (args: readonly string[], { input = '', cwd = root } = {}): PromtoolResult => {
  const { status, stdout, stderr, error } = spawnSync(file, args, { input, cwd, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, output: stdout + stderr };
};
