// Random outages with faults, from a number each, in virtual time. `--seed N` plays one and tells its trace; `--runs N --from N` plays many.
import { parseArgs } from 'node:util';
import { cpuUsage, exit, stderr, stdout } from 'node:process';
import { generatePlan, runPlan, shrink, tellFailure, tellPlan, tellTrace } from '../src/scenario/simulation/index.ts';
import { createTally } from './simulate/tally.ts';

const usage = 'usage: simulate.ts [--seed N] [--runs N] [--from N]';
const mostShrinkRuns = 300;
const mostFailures = 3;
const tellEvery = 1_000;

const whole = (text: string | undefined, absent: number): number => {
  if (text === undefined || text === '') return absent;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  stderr.write(`${text} is no whole number\n${usage}\n`);
  return exit(2);
};

const say = (lines: readonly string[]): void => void stdout.write(`${lines.join('\n')}\n`);

/** Plays one plan and tells all of it. Returns the exit code. */
const playOne = async (seed: number): Promise<number> => {
  const run = await runPlan(generatePlan(seed));
  if (run.violation !== undefined) {
    say(tellFailure(run, await shrink(run, { run: runPlan, mostRuns: mostShrinkRuns })));
    return 1;
  }
  say([...tellPlan(run.plan), '', ...tellTrace(run.events), '', `seed ${String(seed)}: every invariant held`]);
  return 0;
};

const playMany = async ({ from, runs }: { readonly from: number; readonly runs: number }): Promise<number> => {
  const tally = createTally();
  let failures = 0;
  for (let seed = from; seed < from + runs && failures < mostFailures; seed += 1) {
    const before = cpuUsage();
    const run = await runPlan(generatePlan(seed));
    const { user, system } = cpuUsage(before);
    tally.add(run, (user + system) / 1_000);
    if (run.violation !== undefined) {
      failures += 1;
      say([...tellFailure(run, await shrink(run, { run: runPlan, mostRuns: mostShrinkRuns })), '']);
    }
    if ((seed - from + 1) % tellEvery === 0) stderr.write(`${String(seed - from + 1)} of ${String(runs)} runs\n`);
  }
  say(tally.tell());
  return failures === 0 ? 0 : 1;
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, runs: { type: 'string' }, from: { type: 'string' } },
  });
  const { seed = '' } = values;
  if (seed !== '') return playOne(whole(seed, 0));
  return playMany({ from: whole(values.from, 1), runs: whole(values.runs, 1_000) });
};

exit(await main());
