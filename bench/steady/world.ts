import { join } from 'node:path';
import { startServed } from '../../test/envtest/served.ts';
import { sumTraffic, type Traffic } from '../support/traffic.ts';
import type { FloorInit, SeedAnswer, ShootsAnswer, ShootsInit } from './protocol.ts';

/** One process of the world serves so many shoots at most. */
const shootsPerProcess = 500;

export interface Size {
  readonly shoots: number;
  /** Of each shoot. */
  readonly nodes: number;
}

interface WorldInit extends Size {
  /** With what the health of shoots is read from. Default false. */
  readonly careObjects?: boolean;
}

/** What the servers have counted so far. */
export interface Counts {
  readonly seed: Traffic;
  readonly shoots: Traffic;
  readonly floor: Traffic;
  /** Probes of the shoot that has had the fewest. */
  readonly fewestProbes: number;
}

/** A healthy seed, spread over processes. */
export interface SteadyWorld {
  readonly pids: readonly number[];
  readonly kubeconfig: string;
  counts(): Promise<Counts>;
  startFloor(intervalMs: number): Floor;
  end(): Promise<void>;
}

export interface Floor {
  readonly pid: number;
  end(): Promise<void>;
}

const script = (name: string): URL => new URL(name, import.meta.url);

/** Its files lie in `directory`. */
export const startSteadyWorld = async (world: WorldInit, directory: string): Promise<SteadyWorld> => {
  const { shoots, nodes, careObjects = false } = world;
  const processes = Math.ceil(shoots / shootsPerProcess);
  const inits = Array.from({ length: processes }, (_, index): ShootsInit => {
    const first = index * shootsPerProcess;
    const count = Math.min(shootsPerProcess, shoots - first);
    const file = (name: string): string => join(directory, `${name}-${String(index)}.json`);
    return { first, shoots: count, nodes, careObjects, doors: file('doors'), objects: file('objects') };
  });
  const parts = inits.map((init) => startServed<ShootsAnswer>(script('shoots.ts'), [JSON.stringify(init)]));
  await Promise.all(parts.map((part) => part.answer('ready')));
  const seed = startServed<SeedAnswer>(
    script('seed.ts'),
    inits.map(({ objects }) => objects),
  );
  const { kubeconfig } = await seed.answer('ready');
  return {
    pids: [...parts, seed].map(({ pid }) => pid),
    kubeconfig,
    counts: async () => {
      const reports = await Promise.all(parts.map(async (part) => (await part.order('report')).report));
      return {
        seed: (await seed.order('report')).traffic,
        shoots: sumTraffic(reports.map(({ traffic }) => traffic)),
        floor: sumTraffic(reports.map(({ floor }) => floor)),
        fewestProbes: Math.min(...reports.map(({ fewestProbes }) => fewestProbes)),
      };
    },
    startFloor: (intervalMs) => {
      const init: FloorInit = { files: inits.map(({ doors }) => doors), intervalMs };
      return startServed<never>(script('floor.ts'), [JSON.stringify(init)]);
    },
    end: async () => {
      await Promise.all([...parts, seed].map((part) => part.end()));
    },
  };
};
