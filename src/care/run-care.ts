import { type ProcessDeps, runComponent, systemClock } from '../process/index.ts';
import { connectGarden, type GardenOptions } from './garden.ts';
import type { CareSettings } from './settings.ts';
import { careComponent } from './setup.ts';

export interface CareProcessDeps extends ProcessDeps<CareSettings>, GardenOptions {}

/** Runs `dwd care` as a process. Resolves with its exit code. */
export const runCareProcess = async (deps: CareProcessDeps): Promise<number> => {
  const clock = systemClock();
  const garden = await connectGarden(deps, clock);
  try {
    return await runComponent(careComponent({ garden: garden?.kube, takeOver: deps.takeOver, clock }), deps);
  } finally {
    garden?.close();
  }
};
