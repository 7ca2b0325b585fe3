// Plays random outages with faults in virtual time; a seed number determines each. `--seed N` plays one and prints its trace, other flags play many.
import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { exit, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generatePlan } from '../simulator/outages/generate.ts';
import { runPlan } from '../simulator/outages/run.ts';
import { formatPlan, formatTrace } from '../simulator/outages/format.ts';
import { type PlayOptions, type Played, type Range, describeFailure, playRange, splitRange } from './simulate/play.ts';
import { addTallies, emptyTally, formatTally } from './simulate/tally.ts';
import type { WorkerMessage } from './simulate/worker.ts';

const usage = 'usage: simulate.ts [--seed N] [--from N] [--runs N] [--jobs N]';
const tellEvery = 1_000;
/** Upper bound of the random seed number of the first plan. */
const highestStart = 2 ** 40;

const whole = (text: string | undefined, absent: number): number => {
  if (text === undefined || text === '') return absent;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  stderr.write(`${text} is no whole number\n${usage}\n`);
  return exit(2);
};

const say = (lines: readonly string[]): void => void stdout.write(`${lines.join('\n')}\n`);

/** Plays one plan and prints its whole trace. Returns the exit code. */
const playOne = async (seed: number): Promise<number> => {
  const run = await runPlan(generatePlan(seed));
  if (run.violation !== undefined) {
    say(await describeFailure(run));
    return 1;
  }
  say([...formatPlan(run.plan), '', ...formatTrace(run.events), '', `seed ${String(seed)}: every invariant held`]);
  return 0;
};

const worker = fileURLToPath(new URL('simulate/worker.ts', import.meta.url));

/** Like `playRange`, in a child process. */
const playElsewhere = ({ from, runs }: Range, { onFailure, onPlayed }: PlayOptions): Promise<Played> =>
  new Promise((resolve, reject) => {
    let over: Played | undefined;
    const child = fork(worker, [String(from), String(runs)]);
    child.on('message', (message: WorkerMessage) => {
      if (message.kind === 'failure') onFailure(message.lines);
      else if (message.kind === 'played one') onPlayed();
      else over = message.played;
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (over !== undefined) resolve(over);
      else reject(new Error(`plans from ${String(from)} on: the process that played them ended with ${String(code)}`));
    });
  });

const playMany = async (range: Range, jobs: number): Promise<number> => {
  const { from, runs } = range;
  say([
    `plans ${String(from)} to ${String(from + runs - 1)}: make simulate FROM=${String(from)} RUNS=${String(runs)}`,
    '',
  ]);
  let done = 0;
  const options: PlayOptions = {
    onFailure: (lines) => say([...lines, '']),
    onPlayed: () => {
      done += 1;
      if (done % tellEvery === 0) stderr.write(`${String(done)} of ${String(runs)} runs\n`);
    },
  };
  const play = jobs > 1 ? playElsewhere : playRange;
  const played = await Promise.all(splitRange(range, jobs).map((part) => play(part, options)));
  say(formatTally(played.map(({ tally }) => tally).reduce(addTallies, emptyTally)));
  return played.every(({ failures }) => failures === 0) ? 0 : 1;
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, runs: { type: 'string' }, from: { type: 'string' }, jobs: { type: 'string' } },
  });
  const { seed = '' } = values;
  if (seed !== '') return playOne(whole(seed, 0));
  const range = { from: whole(values.from, randomInt(highestStart)), runs: whole(values.runs, 1_000) };
  return playMany(range, Math.max(1, whole(values.jobs, 1)));
};

exit(await main());
