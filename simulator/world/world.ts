import type { Clock } from '../../src/ports/clock.ts';
import { type SimKind, simKinds } from '../apiserver/index.ts';
import { createSeededRandom } from '../time/index.ts';
import { startWorkloads } from './deployments.ts';
import { createWorldServer } from './endpoint.ts';
import type { ShootInit } from './objects.ts';
import { type WorldShoot, createShoot } from './shoot.ts';
import { type WorldSource, servedKinds } from './steering.ts';
import { type WorldTiming, defaultTiming } from './timing.ts';

export interface WorldOptions {
  readonly clock: Clock;
  /** Seed of all random numbers. Default 0. */
  readonly seed?: number | string;
  readonly shoots: readonly ShootInit[];
  /** Times that differ from `defaultTiming`, which has the values of the real programs. */
  readonly timing?: Partial<WorldTiming>;
  /** Cluster source. Default: gardener. */
  readonly source?: WorldSource;
  /** Kinds that the seed serves; other sources than gardener change this list (`servedKinds`). Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[];
  /** Kinds whose status follows their replicas, in addition to Deployment. */
  readonly workloads?: readonly SimKind[];
}

/** Connect timeout of the client for shoots (src/kubernetes/connection/shoot-connector.ts). */
const connectTimeoutMs = 10_000;

/**
 * Creates a running seed in memory, with shoots, their kubelets and controllers, all of them ready. Actors write through the stores and
 * wait on `clock`; the same `seed` on a virtual clock gives the same run. Kubelets are cut off by a method of the shoot, or from outside by
 * the annotation `simulation.dependency-watchdog.gardener.cloud/kubelets: cut` on its Cluster (on its Namespace if the seed has no
 * Clusters). In the same way `.../etcd: down` and `.../crashing: NAMES` break a control plane that was created with pods.
 */
export const createWorld = (options: WorldOptions) => {
  const { clock, seed = 0, source = 'gardener', workloads = [] } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const random = createSeededRandom(seed);
  const api = createWorldServer({
    clock,
    name: 'seed',
    seed: String(seed),
    kinds: servedKinds(source, options.kinds ?? Object.values(simKinds)),
  });
  const { store } = api.server;
  const stopWorkloads = startWorkloads({ clock, timing, store, random: random.fork('deployments') }, workloads);
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
    /** Objects of the seed. Objects of kinds that the seed does not serve are visible to the simulated controllers only. */
    store,
    timing,
    get shoots(): readonly WorldShoot[] {
      return entries.map(({ shoot }) => shoot);
    },
    /** Returns the shoot with this name. Throws if there is none. */
    shoot: (name: string): WorldShoot => {
      const found = entries.find(({ shoot }) => shoot.name === name);
      if (found === undefined) throw new Error(`the world has no shoot ${name}`);
      return found.shoot;
    },
    addShoot,
    /** Stops all actors. The objects remain and are still served. */
    stop: (): void => {
      stopWorkloads();
      for (const entry of entries) entry.stop();
    },
  };
};

export type World = ReturnType<typeof createWorld>;
