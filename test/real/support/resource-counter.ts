import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The resources that a process holds. */
export interface ResourceCounts {
  /** Numbers of open sockets and pipes, by Node's names for them. */
  readonly resources: Readonly<Record<string, number>>;
  readonly fileDescriptors: number;
  /** Number of AbortSignals that are still reachable. `listeners` counts the listeners on them. */
  readonly signals: number;
  readonly listeners: number;
}

export interface ResourceCounter {
  /** Collects garbage, then counts. Resolves when two counts in a row are equal, so that work in progress has ended. */
  take(): Promise<ResourceCounts>;
  /** Messages of Node's warnings, such as too many listeners. */
  readonly warnings: readonly string[];
  stop(): void;
}

const quietMs = 200;

const countResources = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  // These belong to the test's own waits.
  for (const name of ['Timeout', 'Immediate', 'FSReqPromise']) counts[name] = 0;
  return counts;
};

/** Counts the AbortSignals that are created from now on. At most one census may run per process. */
export const startResourceCounter = (): ResourceCounter => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const Original = globalThis.AbortController;
  let signals: WeakRef<AbortSignal>[] = [];
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      signals.push(new WeakRef(this.signal));
    }
  };
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on('warning', onWarning);

  const count = async (): Promise<ResourceCounts> => {
    for (let round = 0; round < 4; round += 1) {
      collectGarbage();
      // The target of a dereferenced WeakRef stays reachable until the task ends.
      await sleep(5);
    }
    const living = signals.flatMap((ref) => ref.deref() ?? []);
    const listeners = living.map((signal) => getEventListeners(signal, 'abort').length);
    signals = living.map((signal) => new WeakRef(signal));
    return {
      resources: countResources(),
      fileDescriptors: readdirSync('/proc/self/fd').length,
      signals: living.length,
      listeners: listeners.reduce((sum, some) => sum + some, 0),
    };
  };
  const formOf = ({ resources, fileDescriptors, signals: living, listeners }: ResourceCounts): string =>
    JSON.stringify([resources, fileDescriptors, living, listeners]);

  return {
    take: async () => {
      let census = await count();
      for (let tries = 0; tries < 50; tries += 1) {
        await sleep(quietMs);
        const next = await count();
        if (formOf(next) === formOf(census)) return next;
        census = next;
      }
      return census;
    },
    warnings,
    stop: () => {
      process.off('warning', onWarning);
      globalThis.AbortController = Original;
    },
  };
};
