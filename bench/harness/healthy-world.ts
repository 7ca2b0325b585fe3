import { join } from 'node:path';
import { type Answers, startServed } from '../../test/envtest/served.ts';
import type { FloorInit } from '../worlds/floor.ts';
import type { SeedProcess } from '../worlds/seed.ts';
import type { ShootsInit, ShootsProcess } from '../worlds/shoots.ts';
import type { Size } from './part.ts';
import { type ServerTraffic, sumTraffic } from './traffic.ts';

/** Maximum number of shoots that one process of the world serves. */
const shootsPerProcess = 500;

interface WorldInit extends Size {
  /** True to include the objects from which care reads the health of shoots. Default false. */
  readonly careObjects?: boolean;
}

/** Traffic that the servers have counted so far. */
export interface ServerCounts {
  readonly seed: ServerTraffic;
  readonly shoots: ServerTraffic;
  readonly floor: ServerTraffic;
  /** Number of probes of the shoot with the fewest. */
  readonly fewestProbes: number;
}

/** A healthy seed and its shoots, spread over several processes. */
export interface HealthyWorld {
  readonly pids: readonly number[];
  readonly kubeconfig: string;
  counts(): Promise<ServerCounts>;
  startFloor(intervalMs: number): FloorProcess;
  end(): Promise<void>;
}

export interface FloorProcess {
  readonly pid: number;
  end(): Promise<void>;
}

const script = (name: string): URL => new URL(`../worlds/${name}`, import.meta.url);

/** Starts the world. Its files are in `directory`. */
export const startHealthyWorld = async (world: WorldInit, directory: string): Promise<HealthyWorld> => {
  const { shoots, nodes, careObjects = false } = world;
  const processes = Math.ceil(shoots / shootsPerProcess);
  const inits = Array.from({ length: processes }, (_, index): ShootsInit => {
    const first = index * shootsPerProcess;
    const count = Math.min(shootsPerProcess, shoots - first);
    const file = (name: string): string => join(directory, `${name}-${String(index)}.json`);
    return { first, shoots: count, nodes, careObjects, doors: file('doors'), objects: file('objects') };
  });
  const parts = inits.map((init) => startServed<ShootsProcess>(script('shoots.ts'), init));
  await Promise.all(parts.map((part) => part.ready()));
  const seed = startServed<SeedProcess>(
    script('seed.ts'),
    inits.map(({ objects }) => objects),
  );
  const { kubeconfig } = await seed.ready();
  return {
    pids: [...parts, seed].map(({ pid }) => pid),
    kubeconfig,
    counts: async () => {
      const reports = await Promise.all(parts.map((part) => part.order('report')));
      return {
        seed: await seed.order('traffic'),
        shoots: sumTraffic(reports.map(({ traffic }) => traffic)),
        floor: sumTraffic(reports.map(({ floor }) => floor)),
        fewestProbes: Math.min(...reports.map(({ fewestProbes }) => fewestProbes)),
      };
    },
    startFloor: (intervalMs) => {
      const init: FloorInit = { files: inits.map(({ doors }) => doors), intervalMs };
      return startServed<Answers>(script('floor.ts'), init);
    },
    end: async () => {
      await Promise.all([...parts, seed].map((part) => part.end()));
    },
  };
};
