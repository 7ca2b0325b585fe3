import type { Clock } from '../../src/ports/clock.ts';
import { type SimKind, simKinds } from '../apiserver/index.ts';
import { createSeededRandom } from '../time/index.ts';
import { startDeploymentController } from './deployments.ts';
import { createWorldServer } from './endpoint.ts';
import type { ShootInit } from './objects.ts';
import { type WorldShoot, createShoot } from './shoot.ts';
import { type WorldSource, servedKinds } from './source.ts';
import { type WorldTiming, defaultTiming } from './timing.ts';

export interface WorldOptions {
  readonly clock: Clock;
  /** Decides everything that is random in it. Default 0. */
  readonly seed?: number | string;
  readonly shoots: readonly ShootInit[];
  /** Default: as the real programs have it. */
  readonly timing?: Partial<WorldTiming>;
  /** Default: gardener. */
  readonly source?: WorldSource;
  /** What the seed's API server serves, where Gardener has brought its kinds. Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[];
}

/** As the client of shoots has it (src/kubernetes/connection/shoot-connector.ts). */
const connectTimeoutMs = 10_000;

/**
 * A seed with shoots, their kubelets and controllers, in memory, and going: everything is up and has been for long. Actors write through the stores and wait on `clock`; the
 * same seed on a virtual clock is the same run. Kubelets are cut off with a method of the shoot, or from outside with the
 * annotation `simulation.dependency-watchdog.gardener.cloud/kubelets: cut` on its Cluster (on its Namespace where the seed has none); in the same way `.../etcd: down` and
 * `.../crashing: NAMES` bring down the pods of a control plane that has them.
 */
export const createWorld = (options: WorldOptions) => {
  const { clock, seed = 0, source = 'gardener' } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const random = createSeededRandom(seed);
  const api = createWorldServer({
    clock,
    name: 'seed',
    seed: String(seed),
    kinds: servedKinds(source, options.kinds ?? Object.values(simKinds)),
  });
  const { store } = api.server;
  const stopDeployments = startDeploymentController({ clock, timing, store, random: random.fork('deployments') });
  const entries: ReturnType<typeof createShoot>[] = [];

  const addShoot = (init: ShootInit): WorldShoot => {
    const { name } = init;
    const server = createWorldServer({ clock, name: `${name}.shoots`, seed: String(seed), connectTimeoutMs });
    const entry = createShoot(
      { clock, timing, store, source, random: random.fork(`shoot/${name}`), api: server },
      init,
    );
    entries.push(entry);
    return entry.shoot;
  };
  for (const init of options.shoots) addShoot(init);

  return {
    api,
    source,
    /** Objects of the seed. Those of kinds that it does not serve are there for the actors alone. */
    store,
    timing,
    get shoots(): readonly WorldShoot[] {
      return entries.map(({ shoot }) => shoot);
    },
    /** Throws for a name that is not there. */
    shoot: (name: string): WorldShoot => {
      const found = entries.find(({ shoot }) => shoot.name === name);
      if (found === undefined) throw new Error(`the world has no shoot ${name}`);
      return found.shoot;
    },
    addShoot,
    /** Ends all actors; objects stay and are served on. */
    stop: (): void => {
      stopDeployments();
      for (const entry of entries) entry.stop();
    },
  };
};

export type World = ReturnType<typeof createWorld>;
