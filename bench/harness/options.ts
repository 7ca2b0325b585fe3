import { parseArgs } from 'node:util';
import { count } from './command.ts';
import { type Target, ownTarget } from './target.ts';

export const partNames = ['steady', 'outage', 'starved', 'attacked', 'recovery', 'care', 'operate'] as const;
export type PartName = (typeof partNames)[number];

export interface CommandLine {
  readonly parts: readonly PartName[];
  readonly targets: readonly Target[];
  readonly quick: boolean;
  readonly shoots?: number;
  readonly nodes?: number;
  /** File to which the figures are written as JSON. */
  readonly json?: string;
}

export const usage = `node bench/bench.ts [FLAGS]

  --only PART      steady, outage, starved, attacked, recovery, care or operate; more than once for several (default: all)
  --target "CMD"   the program to measure; gets "prober", "weeder" or "care" and its flags (default: bin/dwd)
  --vs "CMD"       another one, measured in turn
  --shoots N       instead of the sizes of the parts
  --nodes N        of each shoot
  --json FILE      write the figures there, too
  --quick          small and short: shows that the harness works, and measures nothing
`;

const isPart = (name: string): name is PartName => partNames.some((part) => part === name);

const partsOf = (only: readonly string[]): readonly PartName[] => {
  const unknown = only.find((name) => !isPart(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${partNames.join(', ')}`);
  return only.length === 0 ? partNames : only.filter(isPart);
};

/** Throws an error that names the wrong flag. */
export const readCommandLine = (args: readonly string[]): CommandLine => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      target: { type: 'string' },
      vs: { type: 'string' },
      shoots: { type: 'string' },
      nodes: { type: 'string' },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const { target, vs, json, quick } = values;
  const [shoots, nodes] = [count('shoots', values.shoots), count('nodes', values.nodes)];
  const named = (name: string, command: string | undefined): readonly Target[] =>
    command === undefined ? [] : [{ name, command }];
  return {
    parts: partsOf(values.only),
    targets: [target === undefined ? ownTarget() : { name: 'target', command: target }, ...named('other', vs)],
    quick,
    ...(shoots === undefined ? {} : { shoots }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(json === undefined ? {} : { json }),
  };
};
