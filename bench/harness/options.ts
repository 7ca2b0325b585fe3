import { parseArgs } from 'node:util';
import { kindNames } from '../parts/race-kinds.ts';
import { count, namesIn } from './command.ts';
import type { BenchOptions } from './part.ts';
import { targetOf } from './target.ts';

export const partNames = ['steady', 'outage', 'recovery', 'race'] as const;
export type PartName = (typeof partNames)[number];
/** The race takes 50 minutes, and needs a real kube-apiserver. */
const usualParts = partNames.slice(0, 3);

export interface CommandLine extends BenchOptions {
  readonly parts: readonly PartName[];
  /** File to which the figures are written as JSON. */
  readonly json?: string;
}

export const usage = `node bench/bench.ts [FLAGS]

  --only PARTS     with commas between them: ${partNames.join(', ')} (default: all but the race)
  --target "CMD"   the program to measure; gets "prober" or "weeder" and its flags (default: bin/dwd)
  --shoots N       instead of the sizes of the parts; of the race: that fall silent in each round (default: 5)
  --nodes N        of each shoot (race: 20)
  --outages KINDS  of the race: ${kindNames.slice(0, 4).join(',')},
                   ${kindNames.slice(4).join(',')} (default: all)
  --rounds N       of the race: outages of each kind for each shoot (default: 2)
  --json FILE      write the figures there, too
  --quick          small and short: shows that the harness works, and measures nothing
`;

/** Throws an error that names the wrong flag. */
export const readCommandLine = (args: readonly string[]): CommandLine => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: usualParts.join(',') },
      outages: { type: 'string', default: kindNames.join(',') },
      rounds: { type: 'string', default: '2' },
      target: { type: 'string' },
      shoots: { type: 'string' },
      nodes: { type: 'string' },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const { only, outages, target, json, quick } = values;
  return {
    parts: namesIn('only', only, partNames),
    target: targetOf(target),
    ...{ quick, json },
    shoots: count('shoots', values.shoots),
    nodes: count('nodes', values.nodes),
    outages: namesIn('outages', outages, kindNames),
    rounds: count('rounds', values.rounds) ?? 1,
  };
};
