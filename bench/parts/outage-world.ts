import { type Served, startServed } from '../../test/envtest/served.ts';
import { gardenConfig, graceMs } from '../harness/garden-config.ts';
import type { BenchOptions, Size } from '../harness/part.ts';
import type { ProcessStart } from '../harness/target.ts';
import type { OutageInit, OutageProcess } from '../worlds/outage.ts';

const quickSize = { shoots: 3, nodes: 3 };
/** Factor of all times of the world and of the configuration in a quick run. */
const quickScale = 0.1;
/** Long enough for KCM to mark every node Unknown. */
export const outageMs = graceMs + 15_000;
/** Long, because programs may wait for their `initialDelay` first, or have little CPU time for their start. */
export const readyLimitMs = 180_000;

export interface OutageWorld {
  readonly world: Served<OutageProcess>;
  readonly size: OutageInit;
  /** Start of a prober of the world. */
  readonly start: Pick<ProcessStart, 'component' | 'config' | 'kubeconfig'>;
}

/** Runs `work` with a world whose shoots can all fail at once. The options override `usualSize`. The world is ended afterwards. */
export const withOutageWorld = async <T>(
  options: BenchOptions,
  usualSize: Size,
  work: (started: OutageWorld) => Promise<T>,
): Promise<T> => {
  const { shoots, nodes } = { ...(options.quick ? quickSize : usualSize), ...options };
  const size: OutageInit = { shoots, nodes, scale: options.quick ? quickScale : 1 };
  const world = startServed<OutageProcess>(new URL('../worlds/outage.ts', import.meta.url), size);
  try {
    const { kubeconfig, kubeConfigSecretName } = await world.ready();
    const config = gardenConfig(kubeConfigSecretName, { scale: size.scale });
    return await work({ world, size, start: { component: 'prober', config, kubeconfig } });
  } finally {
    await world.end();
  }
};
