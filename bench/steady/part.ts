import { probeIntervalMs } from '../support/garden-config.ts';
import { type BenchOptions, inScratch, type PartResult } from '../support/part.ts';
import type { Target } from '../support/target.ts';
import { steadyFailures } from './aims.ts';
import { measureSteady, type Pace, type SteadyResult } from './measure.ts';
import { tellSteady } from './tell.ts';
import { type Size, startSteadyWorld } from './world.ts';

interface Plan extends Size {
  /** Default: the prober's default, three times as dense as gardenlet's. */
  readonly intervalMs?: number;
}

/** Measured one after the other. */
type Track = readonly Plan[];

/** Tracks of a phase run at the same time: one shoot takes minutes to be probed often enough, and hardly anything of the machine. */
const allPhases: readonly (readonly Track[])[] = [
  [
    [
      { shoots: 10, nodes: 50 },
      { shoots: 100, nodes: 50 },
      { shoots: 250, nodes: 50 },
      { shoots: 250, nodes: 50, intervalMs: probeIntervalMs },
    ],
    [{ shoots: 1, nodes: 1_000 }],
    [{ shoots: 1, nodes: 5_000 }],
  ],
  [[{ shoots: 1_000, nodes: 50 }]],
];
const quickSize: Size = { shoots: 3, nodes: 5 };

/** Code that has run a thousand times is compiled; where that would take many minutes, every session can at least be resumed. */
const warmUpsFor = ({ shoots }: Size): number => (shoots < 100 ? 2 : Math.max(2, Math.ceil(1_000 / shoots)));

const fewestProbes = 30;
const intervalsFor = ({ shoots }: Size): number => Math.max(3, Math.ceil(fewestProbes / shoots));

const paceFor = (size: Plan): Pace => ({
  intervalMs: size.intervalMs ?? 10_000,
  warmUps: warmUpsFor(size),
  intervals: intervalsFor(size),
});
/** Enough to see that everything is measured; the figures mean nothing. */
const quickPace: Pace = { intervalMs: 1_000, warmUps: 1, intervals: 3 };

const phasesOf = ({ quick, shoots, nodes }: BenchOptions): readonly (readonly Track[])[] => {
  if (shoots !== undefined || nodes !== undefined) return [[[{ shoots: shoots ?? 1, nodes: nodes ?? 50 }]]];
  return quick ? [[[quickSize]]] : allPhases;
};

/** Every target in a world of its own, so that each finds the same. */
const measure = (target: Target, size: Plan, { clock, quick }: BenchOptions): Promise<SteadyResult> =>
  inScratch(async (directory) => {
    const world = await startSteadyWorld(size, directory);
    try {
      return await measureSteady(target, { clock, world, size, pace: quick ? quickPace : paceFor(size), directory });
    } finally {
      await world.end();
    }
  });

/** A result, or why there is none: other sizes took minutes, and are worth telling. */
type Outcome = SteadyResult | string;

const tryToMeasure = async (target: Target, size: Plan, options: BenchOptions): Promise<Outcome> => {
  const what = `${target.name}, ${String(size.shoots)} shoots of ${String(size.nodes)} nodes`;
  options.say(`steady state: ${what}`);
  try {
    return await measure(target, size, options);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    options.say(message);
    return `${what}: not measured: ${message.split('\n')[0] ?? ''}`;
  }
};

const runTrack = async (track: Track, options: BenchOptions): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const size of track) {
    for (const target of options.targets) outcomes.push(await tryToMeasure(target, size, options));
  }
  return outcomes;
};

export const runSteady = async (options: BenchOptions): Promise<PartResult> => {
  const outcomes: Outcome[] = [];
  for (const tracks of phasesOf(options)) {
    outcomes.push(...(await Promise.all(tracks.map((track) => runTrack(track, options)))).flat());
  }
  const results = outcomes
    .filter((outcome) => typeof outcome !== 'string')
    .toSorted((a, b) => a.nodes - b.nodes || a.shoots - b.shoots);
  const failures = outcomes.filter((outcome) => typeof outcome === 'string');
  const missed = options.targets.flatMap(({ name }) =>
    steadyFailures(results.filter(({ target }) => target === name)).map((failure) => `${name}: ${failure}`),
  );
  return { markdown: tellSteady(results), missed: [...failures, ...missed], json: results };
};
