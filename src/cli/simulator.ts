import { existsSync } from 'node:fs';
import type { RunDemo } from './demo.ts';
import { CommandError } from './errors.ts';
import type { RunRehearse } from './rehearse.ts';

/** What dist/simulator.js exports; simulator/cli makes it. */
export interface Simulator {
  readonly runDemo: RunDemo;
  readonly runRehearse: RunRehearse;
}

/** Loads the simulator's bundle. Throws a CommandError where there is none: the image leaves it out, as nothing in a seed needs it. */
export const loadSimulator = async (bundle: URL): Promise<Simulator> => {
  if (!existsSync(bundle)) throw new CommandError('the simulator is not part of the image; the npm package has it');
  return (await import(bundle.href)) as Simulator;
};
