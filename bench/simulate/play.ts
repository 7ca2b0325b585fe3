import { cpuUsage } from 'node:process';
import { generatePlan } from '../../simulator/outages/generate.ts';
import { runPlan } from '../../simulator/outages/run.ts';
import { shrink } from '../../simulator/outages/shrink.ts';
import { tellFailure } from '../../simulator/outages/tell.ts';
import { type Tally, addTallies, emptyTally, tallyOf } from './tally.ts';

/** Plans by their numbers, from the first one on. */
export interface Range {
  readonly from: number;
  readonly runs: number;
}

export interface Played {
  readonly tally: Tally;
  readonly failures: number;
}

export interface PlayOptions {
  /** Of a plan that failed, in lines. */
  readonly onFailure: (lines: readonly string[]) => void;
  /** After each plan. */
  readonly onPlayed: () => void;
}

const mostShrinkRuns = 300;
const mostFailures = 3;

/** Plays one after the other; gives up after three that failed. */
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
      onFailure(tellFailure(run, await shrink(run, { run: runPlan, mostRuns: mostShrinkRuns })));
    }
    onPlayed();
  }
  return { tally, failures };
};

/** Disjoint ranges that together are this one. */
export const splitRange = ({ from, runs }: Range, parts: number): readonly Range[] =>
  Array.from({ length: parts }, (_, index) => {
    const [start, end] = [Math.floor((runs * index) / parts), Math.floor((runs * (index + 1)) / parts)];
    return { from: from + start, runs: end - start };
  }).filter((part) => part.runs > 0);
