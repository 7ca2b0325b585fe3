import { parseArgs } from 'node:util';
import { type KindName, kindNames } from '../parts/race-kinds.ts';
import { count, namesIn } from './command.ts';
import { type Target, targetOf } from './target.ts';

export const partNames = ['steady', 'outage', 'recovery', 'race'] as const;
export type PartName = (typeof partNames)[number];
/** The race takes an hour, and needs a real kube-apiserver. */
const usualParts = partNames.slice(0, 3);

export interface BenchOptions {
  readonly parts: readonly PartName[];
  readonly target: Target;
  /** Instead of the part's own sizes. */
  readonly shoots?: number;
  /** Of each shoot. */
  readonly nodes?: number;
  /** Of the race: the kinds of outages, and the number of rounds of each. */
  readonly outages: readonly KindName[];
  readonly rounds: number;
  /** Factor of all times. */
  readonly scale: number;
}

export const usage = `node bench/bench.ts [FLAGS]

  --only PARTS     with commas between them: ${partNames.join(', ')} (default: all but the race)
  --target "CMD"   the program to measure, which sh executes with "prober" or "weeder" and its flags (default: bin/dwd)
  --shoots N       instead of the sizes of the parts; of the race: that fall silent in each round (default: 5)
  --nodes N        of each shoot (race: 20)
  --outages KINDS  of the race: ${kindNames.slice(0, 4).join(',')},
                   ${kindNames.slice(4).join(',')} (default: all)
  --rounds N       of the race: outages of each kind for each shoot (default: 2)
  --scale X        factor of all times; below 1 it shows that the benchmark runs, and measures nothing
`;

/** Throws an error that names the wrong flag. */
export const readCommandLine = (args: readonly string[]): BenchOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: usualParts.join(',') },
      outages: { type: 'string', default: kindNames.join(',') },
      rounds: { type: 'string', default: '2' },
      scale: { type: 'string', default: '1' },
      target: { type: 'string' },
      shoots: { type: 'string' },
      nodes: { type: 'string' },
    },
  });
  const { only, outages, target } = values;
  const scale = Number(values.scale);
  if (!(scale > 0)) throw new Error(`--scale ${values.scale}: not a number above 0`);
  return {
    parts: namesIn('only', only, partNames),
    target: targetOf(target),
    shoots: count('shoots', values.shoots),
    nodes: count('nodes', values.nodes),
    outages: namesIn('outages', outages, kindNames),
    rounds: count('rounds', values.rounds) ?? 1,
    scale,
  };
};
