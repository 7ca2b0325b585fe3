import { parseArgs } from 'node:util';
import { count } from '../harness/command.ts';
import { type Target, ownTarget } from '../harness/target.ts';
import { type Kind, kindNames, kindsOf } from './race-kinds.ts';

const defaults = { shoots: 5, rounds: 2, nodes: 20 };
/** Factor of all times in a quick run. */
export const quickScale = 0.2;
/** Time until all control planes are ready. */
const startMs = 40_000;
/** Additional time of a round if the log of the program is not known: its initial delay and the end of its cycle. */
const foreignMs = 85_000;

export const raceUsage = `usage: node bench/race.ts [FLAGS]

  --outages KINDS  with commas between them (default: ${kindNames.slice(0, 4).join(',')},
                   ${kindNames.slice(4).join(',')})
  --rounds N       outages of each kind for each shoot (default: ${String(defaults.rounds)})
  --shoots N       that fall silent in each round (default: ${String(defaults.shoots)})
  --nodes N        of each shoot (default: ${String(defaults.nodes)})
  --target "CMD"   another program that takes the prober's flags (default: bin/dwd)
  --json FILE      write the figures there, too
  --quick          all times a fifth: shows that the harness works, and measures nothing
`;

export interface RaceLine {
  readonly kinds: readonly Kind[];
  readonly rounds: number;
  readonly shoots: number;
  readonly nodes: number;
  readonly target: Target;
  /** True if `target` is the program of this checkout. */
  readonly isOwn: boolean;
  readonly json?: string;
  readonly quick: boolean;
}

/** Throws an error that names the wrong flag. */
export const readRaceLine = (args: readonly string[]): RaceLine => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      outages: { type: 'string' },
      rounds: { type: 'string' },
      shoots: { type: 'string' },
      nodes: { type: 'string' },
      target: { type: 'string' },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const { outages, target: command, json, quick } = values;
  return {
    kinds: kindsOf(outages ?? kindNames.join(',')),
    rounds: count('rounds', values.rounds) ?? defaults.rounds,
    shoots: count('shoots', values.shoots) ?? defaults.shoots,
    nodes: count('nodes', values.nodes) ?? defaults.nodes,
    target: command === undefined ? ownTarget() : { name: 'target', command },
    isOwn: command === undefined,
    quick,
    ...(json === undefined ? {} : { json }),
  };
};

/** Expected duration in minutes, rounded up. */
export const expectedMinutes = ({ kinds, rounds, isOwn, quick }: RaceLine): number => {
  const roundMs = kinds.reduce((sum, kind) => sum + kind.roundMs + (isOwn ? 0 : foreignMs), 0);
  return Math.ceil((startMs + rounds * roundMs * (quick ? quickScale : 1)) / 60_000);
};
