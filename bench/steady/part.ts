import { type BenchOptions, inScratch, type PartResult } from '../support/part.ts';
import type { Target } from '../support/target.ts';
import { steadyFailures } from './aims.ts';
import { measureSteady, type Pace, type SteadyResult } from './measure.ts';
import { tellSteady } from './tell.ts';
import { type Size, startSteadyWorld } from './world.ts';

const fifty = [10, 100, 250, 1_000].map((shoots): Size => ({ shoots, nodes: 50 }));
const allSizes: readonly Size[] = [...fifty, { shoots: 1, nodes: 1_000 }, { shoots: 1, nodes: 5_000 }];
const quickSize: Size = { shoots: 3, nodes: 5 };

/** Code that has run a thousand times is compiled; where that would take many minutes, every session can at least be resumed. */
const warmUpsFor = ({ shoots }: Size): number => (shoots < 100 ? 2 : Math.max(2, Math.ceil(1_000 / shoots)));

const paceFor = (size: Size): Pace => ({ intervalMs: 10_000, warmUps: warmUpsFor(size), intervals: 3 });
/** Enough to see that everything is measured; the figures mean nothing. */
const quickPace: Pace = { intervalMs: 1_000, warmUps: 1, intervals: 3 };

const sizesOf = ({ quick, shoots, nodes }: BenchOptions): readonly Size[] => {
  if (shoots !== undefined || nodes !== undefined) return [{ shoots: shoots ?? 1, nodes: nodes ?? 50 }];
  return quick ? [quickSize] : allSizes;
};

/** Every target in a world of its own, so that each finds the same. */
const measure = (target: Target, size: Size, { clock, quick }: BenchOptions): Promise<SteadyResult> =>
  inScratch(async (directory) => {
    const world = await startSteadyWorld(size, directory);
    try {
      return await measureSteady(target, { clock, world, size, pace: quick ? quickPace : paceFor(size), directory });
    } finally {
      await world.end();
    }
  });

export const runSteady = async (options: BenchOptions): Promise<PartResult> => {
  const results: SteadyResult[] = [];
  const failures: string[] = [];
  for (const size of sizesOf(options)) {
    for (const target of options.targets) {
      const what = `${target.name}, ${String(size.shoots)} shoots of ${String(size.nodes)} nodes`;
      options.say(`steady state: ${what}`);
      try {
        results.push(await measure(target, size, options));
      } catch (error) {
        // The other sizes took minutes, and are worth telling.
        const message = error instanceof Error ? error.message : String(error);
        options.say(message);
        failures.push(`${what}: not measured: ${message.split('\n')[0] ?? ''}`);
      }
    }
  }
  const missed = options.targets.flatMap(({ name }) =>
    steadyFailures(results.filter(({ target }) => target === name)).map((failure) => `${name}: ${failure}`),
  );
  return { markdown: tellSteady(results), missed: [...failures, ...missed], json: results };
};
