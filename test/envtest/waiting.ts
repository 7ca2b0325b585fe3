import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 300_000;

export type WaitAttempt<T> = () => T | undefined | false | Promise<T | undefined | false>;

export interface Wait {
  /** The awaited event, for the error message: "/readyz of the API server". */
  readonly what: string;
  /** By default a time that only a hang exceeds, however busy the machine is. */
  readonly withinMs?: number;
  /** Pause between attempts, by default 50 ms. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
  /** Called after a failure. Its result is appended to the error: the output of a program, or the last observation. */
  readonly detail?: () => string;
}

/**
 * Calls `attempt` until it returns something other than `undefined` and `false`, and returns that. An attempt that throws ends the wait:
 * it returns `undefined` for a state that may change, and throws if it cannot. Waits in real time, for tests against real processes.
 */
export async function waitFor<T>(wait: Wait, attempt: WaitAttempt<T>): Promise<T> {
  const { what, withinMs = patienceMs, everyMs = 50, signal, detail } = wait;
  const deadline = performance.now() + withinMs;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const result = await attempt();
      if (result !== undefined && result !== false) return result;
      if (performance.now() >= deadline) throw new Error(`${what}: not within ${String(withinMs)} ms`);
      await sleep(everyMs, undefined, { signal });
    }
  } catch (error) {
    throw detail === undefined ? error : new Error(`${String(error)}\n${detail()}`, { cause: error });
  }
}

/** Work that is repeated in the background. */
export interface Polling {
  /** Starts no more work and resolves when the work under way is done. Rejects with the error of the work that failed. */
  stop(): Promise<void>;
}

/** Does the work now and then again after each pause, in real time. The first failure ends the repetition; `stop` reports it. */
export function pollEvery(everyMs: number, work: () => Promise<void>): Polling {
  const stopping = new AbortController();
  const { signal } = stopping;
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      await work();
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = repeat();
  // `stop` awaits the promise and reports its error.
  running.catch(() => undefined);
  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
