// What it costs to know how every shoot of a healthy seed is, once a minute.
import { type Size, startSteadyWorld } from '../steady/world.ts';
import { type BenchOptions, inScratch, type PartResult } from '../support/part.ts';
import type { Target } from '../support/target.ts';
import { type CareResult, measureCare, type Pace } from './measure.ts';
import { tellCare } from './tell.ts';

const [usualSize, quickSize]: readonly [Size, Size] = [
  { shoots: 250, nodes: 50 },
  { shoots: 10, nodes: 5 },
];
/** By the second run code is compiled, and every TLS session can be resumed. */
const usualPace: Pace = { periodMs: 60_000, warmUps: 2, periods: 2 };
/** Enough to see that everything is measured; the figures mean nothing. */
const quickPace: Pace = { periodMs: 2_000, warmUps: 1, periods: 2 };

/** Every target in a world of its own, so that each finds the same. */
const measure = (target: Target, size: Size, { clock, quick }: BenchOptions): Promise<CareResult> =>
  inScratch(async (directory) => {
    const world = await startSteadyWorld({ ...size, careObjects: true }, directory);
    try {
      return await measureCare(target, { clock, world, size, pace: quick ? quickPace : usualPace, directory });
    } finally {
      await world.end();
    }
  });

export const runCare = async (options: BenchOptions): Promise<PartResult> => {
  const { shoots, nodes } = options.quick ? quickSize : usualSize;
  const size = { shoots: options.shoots ?? shoots, nodes: options.nodes ?? nodes };
  const results: CareResult[] = [];
  const failures: string[] = [];
  for (const target of options.targets) {
    const what = `${target.name}, ${String(size.shoots)} shoots of ${String(size.nodes)} nodes`;
    options.say(`care: ${what}`);
    try {
      results.push(await measure(target, size, options));
    } catch (error) {
      // What other parts or targets have found took minutes, and is worth telling.
      const message = error instanceof Error ? error.message : String(error);
      options.say(message);
      failures.push(`care: ${what}: not measured: ${message.split('\n')[0] ?? ''}`);
    }
  }
  return { markdown: tellCare(results), missed: failures, json: results };
};
