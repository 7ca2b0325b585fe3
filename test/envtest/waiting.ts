import { setTimeout as sleep } from 'node:timers/promises';

export interface Wait {
  /** What is awaited, in the words of the error: "/readyz of the API server". */
  readonly what: string;
  readonly withinMs: number;
  /** Pause between attempts, 50 unless told. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Calls `attempt` until it returns something other than `undefined`, and returns that. An attempt that throws ends the wait:
 * what may heal is `undefined`, what cannot is an error. Real time; for tests against real processes.
 */
export async function waitFor<T>(wait: Wait, attempt: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + wait.withinMs;
  for (;;) {
    wait.signal?.throwIfAborted();
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() >= deadline) throw new Error(`${wait.what}: not within ${String(wait.withinMs)} ms`);
    await sleep(wait.everyMs ?? 50, undefined, { signal: wait.signal });
  }
}

/** Whether `promise` settles within the time; its result or error stays with the caller. */
export async function settlesWithin(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(withinMs, false, { signal: timer.signal }).catch(() => false);
  const done = promise.then(
    () => true,
    () => true,
  );
  const settled = await Promise.race([done, late]);
  timer.abort();
  return settled;
}
