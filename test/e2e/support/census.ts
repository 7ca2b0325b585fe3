import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process holds on to. */
export interface Census {
  /** Open sockets and pipes, by the names that Node gives them, and timers of the machine's clock. */
  readonly resources: Readonly<Record<string, number>>;
  readonly fileDescriptors: number;
  /** AbortSignals that are still reachable, and the listeners on them. */
  readonly signals: number;
  readonly listeners: number;
  readonly heapBytes: number;
  /** Outside of the heap: buffers, TLS contexts as far as Node counts them. */
  readonly externalBytes: number;
}

export interface CensusTaker {
  /** Collects garbage first. Resolves when two counts in a row are alike, so that what is under way has ended. */
  take(): Promise<Census>;
  /** Messages of Node's own warnings, such as of too many listeners. */
  readonly warnings: readonly string[];
  stop(): void;
}

const quietMs = 200;

const countResources = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  // Those of the test's own waiting.
  for (const name of ['Timeout', 'Immediate', 'FSReqPromise']) counts[name] = 0;
  return counts;
};

/** Counts the AbortSignals that are made from here on; one per process. */
export const startCensus = (): CensusTaker => {
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

  const count = async (): Promise<Census> => {
    for (let round = 0; round < 4; round += 1) {
      collectGarbage();
      // What a WeakRef was asked for stays until the task ends.
      await sleep(5);
    }
    const living = signals.flatMap((ref) => ref.deref() ?? []);
    const listeners = living.map((signal) => getEventListeners(signal, 'abort').length);
    signals = living.map((signal) => new WeakRef(signal));
    const { heapUsed, external } = process.memoryUsage();
    return {
      resources: countResources(),
      fileDescriptors: readdirSync('/proc/self/fd').length,
      signals: living.length,
      listeners: listeners.reduce((sum, some) => sum + some, 0),
      heapBytes: heapUsed,
      externalBytes: external,
    };
  };
  const formOf = ({ resources, fileDescriptors, signals: living, listeners }: Census): string =>
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
