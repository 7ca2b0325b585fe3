import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtProgram, missingProgram } from '../built-program.ts';
import { temporaryDirectory } from '../doubles/temporary-directory.ts';
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

interface PromtoolInput {
  readonly input?: string;
  /** Contents of the files in its working directory. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Runs promtool, in a test. */
export const promtool = (args: readonly string[], { input = '', files = {} }: PromtoolInput = {}): PromtoolResult => {
  const cwd = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const { status, stdout, stderr, error } = spawnSync(file, args, { input, cwd, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, output: stdout + stderr };
};
