import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../bench/simulate.ts', import.meta.url));
const run = promisify(execFile);

const play = async (...flags: readonly string[]): Promise<string> =>
  (await run(process.execPath, [program, ...flags])).stdout;

/** Runs new plans and ignores failures: this test covers the program, not the plans, which differ each time. */
const playNewPlans = (...flags: readonly string[]): Promise<string> =>
  play(...flags).catch((error: unknown) => (error as { readonly stdout: string }).stdout);

/** A time limit in milliseconds that only a hang exceeds: the plans run in virtual time, as fast as the machine computes. */
const timeout = 900_000;

/** Returns the lines that do not depend on the machine. */
const figures = (text: string): readonly string[] => text.split('\n').filter((line) => !line.includes('CPU'));

it('runs other plans each time, and prints how to repeat them', { timeout }, async () => {
  const [one, other] = [await playNewPlans('--runs=4'), await playNewPlans('--runs=4')];
  const [, from = ''] = /FROM=(\d+) RUNS=4\n/.exec(one) ?? [];
  expect(other).not.toContain(from);
  expect(figures(await playNewPlans(`--from=${from}`, '--runs=4'))).toEqual(figures(one));
});

it('runs the same plans in two processes', { timeout }, async () => {
  const flags = ['--from=11', '--runs=5'];
  const alone = figures(await play(...flags));
  expect(alone).toContainEqual(expect.stringMatching(/^\| runs +\| 5 +\|$/));
  expect(figures(await play(...flags, '--jobs=2')).toSorted()).toEqual(alone.toSorted());
});

it('runs one plan and prints all its steps', { timeout }, async () => {
  const output = await play('--seed=157');
  expect(output).toContain('process 0.1 starts');
  expect(output).toMatch(/\nseed 157: every invariant held\n$/);
});
