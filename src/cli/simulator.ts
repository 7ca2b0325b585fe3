import { existsSync } from 'node:fs';
import { CommandError } from '../process/index.ts';
import type { RunDemo } from './demo.ts';
import type { RunRehearse } from './rehearse.ts';

/** The exports of dist/simulator.js, which is built from simulator/cli. */
export interface Simulator {
  readonly runDemo: RunDemo;
  readonly runRehearse: RunRehearse;
}

/** Loads the simulator's bundle. Rejects with a CommandError if it is missing: the image does not contain it, because a seed does not need it. */
export const loadSimulator = async (bundle: URL): Promise<Simulator> => {
  if (!existsSync(bundle)) throw new CommandError('the simulator is not part of the image; the npm package has it');
  return (await import(bundle.href)) as Simulator;
};
