import type { Clock } from '../../src/ports/clock.ts';
import { careSeedKinds } from '../apiserver/index.ts';
import { createWorld, serveWorld } from '../world/index.ts';
import { type Pace, demoShoots, demoTiming, demoWorldSeed, twinName } from './setting.ts';
import { leaveUnprotected } from './twin.ts';

/** The demo's world on the loopback network. */
export interface Stage {
  readonly seedKubeconfig: string;
  readonly shoots: readonly { readonly name: string; readonly namespace: string; readonly kubeconfig: string }[];
  close(): Promise<void>;
}

/** Creates the world and serves it over HTTPS, in this process and on `clock`. */
export const openStage = async (clock: Clock, pace: Pace): Promise<Stage> => {
  const timing = demoTiming(pace);
  const world = createWorld({ clock, seed: demoWorldSeed, shoots: demoShoots, timing, kinds: careSeedKinds });
  leaveUnprotected(world, twinName);
  const served = await serveWorld(world, clock.now());
  return {
    seedKubeconfig: served.kubeconfig,
    shoots: world.shoots.map(({ name, namespace, api }) => ({ name, namespace, kubeconfig: api.kubeconfig() })),
    close: async () => {
      world.stop();
      await served.close();
    },
  };
};
