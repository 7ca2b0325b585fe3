import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWorld } from '../../../simulator/demo/world.ts';
import { systemClock } from '../../../src/process/clock.ts';

/** Serves the seed of the demo, without its watchdogs, and writes the kubeconfigs into the directory. */
export const serveDemoWorld = async (directory: string) => {
  const served = await openWorld({ clock: systemClock() });
  for (const [name, text] of served.kubeconfigs) {
    writeFileSync(join(directory, `${name}.kubeconfig`), text, { mode: 0o600 });
  }
  return served;
};

export type ServedDemoWorld = Awaited<ReturnType<typeof serveDemoWorld>>;
