import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../bench/simulate.ts', import.meta.url));
const run = promisify(execFile);

const play = async (...flags: readonly string[]): Promise<string> =>
  (await run(process.execPath, [program, ...flags])).stdout;

/** Also where a plan finds a mistake: this test is about the program that plays, and the plans are others each time. */
const playNewPlans = (...flags: readonly string[]): Promise<string> =>
  play(...flags).catch((error: unknown) => (error as { readonly stdout: string }).stdout);

/** All but what the machine makes of it. */
const figures = (text: string): readonly string[] => text.split('\n').filter((line) => !line.includes('CPU'));

it('plays other plans each time, and prints how to play them again', { timeout: 60_000 }, async () => {
  const [one, other] = [await playNewPlans('--runs=4'), await playNewPlans('--runs=4')];
  const [, from = ''] = /FROM=(\d+) RUNS=4\n/.exec(one) ?? [];
  expect(other).not.toContain(from);
  expect(figures(await playNewPlans(`--from=${from}`, '--runs=4'))).toEqual(figures(one));
});

it('plays the same plans in two processes', { timeout: 60_000 }, async () => {
  const flags = ['--from=11', '--runs=5'];
  const alone = figures(await play(...flags));
  expect(alone).toContainEqual(expect.stringMatching(/^\| runs +\| 5 +\|$/));
  expect(figures(await play(...flags, '--jobs=2')).toSorted()).toEqual(alone.toSorted());
});

it('plays one plan and tells all of it', { timeout: 60_000 }, async () => {
  const told = await play('--seed=157');
  expect(told).toContain('process 0.1 starts');
  expect(told).toMatch(/\nseed 157: every invariant held\n$/);
});
