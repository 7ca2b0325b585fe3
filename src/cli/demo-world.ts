import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, whenAborted } from '../runtime/index.ts';
import { openStage, type Pace } from '../scenario/index.ts';
import type { CliIo } from './io.ts';

/** What the process that serves the world says on stdout when it is ready: paths of kubeconfigs. */
export interface WorldReport {
  readonly seed: string;
  readonly shoots: readonly { readonly name: string; readonly namespace: string; readonly kubeconfig: string }[];
}

/** Serves the demo's world, its kubeconfigs in `directory`, until stdin ends or a signal comes; the directory goes with it. */
export const serveDemoWorld = async (
  { directory, pace }: { readonly directory: string; readonly pace: Pace },
  io: CliIo,
): Promise<number> => {
  const stop = io.stopOnSignals();
  const stage = await openStage(systemClock(), pace);
  const save = (name: string, text: string): string => {
    const path = join(directory, `${name}.kubeconfig`);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  try {
    const seed = save('seed', stage.seedKubeconfig);
    const shoots = stage.shoots.map((shoot) => ({ ...shoot, kubeconfig: save(shoot.name, shoot.kubeconfig) }));
    io.stdout(`${JSON.stringify({ seed, shoots } satisfies WorldReport)}\n`);
    await Promise.race([whenAborted(stop), io.readFile('-')]);
  } finally {
    await stage.close();
    rmSync(directory, { recursive: true, force: true });
  }
  return 0;
};
