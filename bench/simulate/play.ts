import { cpuUsage } from 'node:process';
import { generatePlan } from '../../simulator/outages/generate.ts';
import { type Run, runPlan } from '../../simulator/outages/run.ts';
import { shrink } from '../../simulator/outages/shrink.ts';
import { formatFailure } from '../../simulator/outages/format.ts';
import { type Tally, addTallies, emptyTally, tallyOf } from './tally.ts';

/** A range of consecutive plans by their seed numbers, starting at `from`. */
export interface Range {
  readonly from: number;
  readonly runs: number;
}

export interface Played {
  readonly tally: Tally;
  readonly failures: number;
}

export interface PlayOptions {
  /** Called with the lines that describe a failed plan. */
  readonly onFailure: (lines: readonly string[]) => void;
  /** Called after each plan. */
  readonly onPlayed: () => void;
}

const mostShrinkRuns = 300;
const mostFailures = 3;

/** Returns lines that describe a failed run and the smallest plan that still fails. */
export const describeFailure = async (run: Run): Promise<readonly string[]> =>
  formatFailure(run, await shrink(run, { run: runPlan, mostRuns: mostShrinkRuns }));

/** Plays one plan after the other; stops after three failures. */
export const playRange = async ({ from, runs }: Range, { onFailure, onPlayed }: PlayOptions): Promise<Played> => {
  let tally = emptyTally;
  let failures = 0;
  for (let seed = from; seed < from + runs && failures < mostFailures; seed += 1) {
    const before = cpuUsage();
    const run = await runPlan(generatePlan(seed));
    const { user, system } = cpuUsage(before);
    tally = addTallies(tally, tallyOf(run, (user + system) / 1_000));
    if (run.violation !== undefined) {
      failures += 1;
      onFailure(await describeFailure(run));
    }
    onPlayed();
  }
  return { tally, failures };
};

/** Splits the range into disjoint ranges that cover it. */
export const splitRange = ({ from, runs }: Range, parts: number): readonly Range[] =>
  Array.from({ length: parts }, (_, index) => {
    const [start, end] = [Math.floor((runs * index) / parts), Math.floor((runs * (index + 1)) / parts)];
    return { from: from + start, runs: end - start };
  }).filter((part) => part.runs > 0);
