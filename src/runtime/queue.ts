import type { Clock, Queue } from '../ports/index.ts';

/** First wait after a failure, doubled by each further one (client-go's DefaultTypedControllerRateLimiter). */
const firstBackoffMs = 5;
const longestBackoffMs = 1_000_000;
/** 5 ms * 2^18 is beyond the longest back-off already; more doublings only risk an overflow. */
const mostDoublings = 18;

export interface WorkQueueOptions<K> {
  readonly clock: Clock;
  /** Keys processed at the same time, at least 1. */
  readonly concurrency: number;
  /** Keys that would keep the others waiting: no more of them than `concurrency` are processed at the same time. */
  readonly limited?: { readonly has: (key: K) => boolean; readonly concurrency: number };
  /** Called with one key at a time; `signal` aborts when `drain` runs out of grace. */
  readonly reconcile: (key: K, signal: AbortSignal) => Promise<void>;
  /** Hears every failure; `failures` counts those since the key's last success, this one included. Must not throw. */
  readonly onError?: (key: K, error: unknown, failures: number) => void;
  /** True for an error that coming back cannot mend: the key is forgotten until somebody adds it again. */
  readonly isTerminal?: (error: unknown) => boolean;
}

/** Keys are compared as a Map does: use strings. */
export interface WorkQueue<K> extends Queue<K> {
  /**
   * Drops what waits, starts nothing new and resolves when what runs has ended. Runs that take longer than `graceMs` see their
   * signal abort; without `graceMs` they get all the time they take.
   */
  drain(graceMs?: number): Promise<void>;
}

/** client-go's rate limited work queue with its workers: `util/workqueue` and controller-runtime's `reconcileHandler` in one. */
export const createWorkQueue = <K>(options: WorkQueueOptions<K>): WorkQueue<K> => {
  const { clock, concurrency, limited, reconcile, onError, isTerminal } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`work queue: concurrency must be a whole number of at least 1, is ${concurrency}`);
  }
  const waiting = new Set<K>();
  const running = new Set<K>();
  const limitedRunning = new Set<K>();
  const runAgain = new Set<K>();
  const delayed = new Map<K, { readonly due: number; readonly cancel: () => void }>();
  const failures = new Map<K, number>();
  const abort = new AbortController();
  let draining: (() => void) | undefined;
  let closed = false;
  let scheduled = false;

  const add = (key: K): void => {
    if (closed) return;
    if (running.has(key)) {
      runAgain.add(key);
      return;
    }
    waiting.add(key);
    schedule();
  };

  const addAfter = (key: K, ms: number): void => {
    if (closed) return;
    if (ms <= 0) {
      add(key);
      return;
    }
    const due = clock.monotonic() + ms;
    const pending = delayed.get(key);
    if (pending !== undefined) {
      if (pending.due <= due) return;
      pending.cancel();
    }
    const cancel = clock.timer(ms, () => {
      delayed.delete(key);
      add(key);
    });
    delayed.set(key, { due, cancel });
  };

  const fail = (key: K, error: unknown): void => {
    const count = (failures.get(key) ?? 0) + 1;
    if (isTerminal?.(error) === true) failures.delete(key);
    else {
      failures.set(key, count);
      addAfter(key, Math.min(firstBackoffMs * 2 ** Math.min(count - 1, mostDoublings), longestBackoffMs));
    }
    onError?.(key, error, count);
  };

  const run = async (key: K): Promise<void> => {
    try {
      await reconcile(key, abort.signal);
      failures.delete(key);
    } catch (error) {
      fail(key, error);
    } finally {
      running.delete(key);
      limitedRunning.delete(key);
      if (runAgain.delete(key)) add(key);
      schedule();
      if (running.size === 0) draining?.();
    }
  };

  const start = (): void => {
    scheduled = false;
    for (const key of waiting) {
      if (closed || running.size >= concurrency) return;
      if (limited?.has(key) === true) {
        if (limitedRunning.size >= limited.concurrency) continue;
        limitedRunning.add(key);
      }
      waiting.delete(key);
      running.add(key);
      void run(key);
    }
  };

  /** Never within the caller's stack: whoever adds a key is not interrupted by its reconcile. */
  const schedule = (): void => {
    if (scheduled || closed || waiting.size === 0 || running.size >= concurrency) return;
    scheduled = true;
    queueMicrotask(start);
  };

  const drain = async (graceMs?: number): Promise<void> => {
    closed = true;
    waiting.clear();
    for (const { cancel } of delayed.values()) cancel();
    delayed.clear();
    if (running.size === 0) return;
    const cancelGrace = graceMs === undefined ? undefined : clock.timer(graceMs, () => abort.abort());
    await new Promise<void>((resolve) => {
      const before = draining;
      draining = () => {
        before?.();
        resolve();
      };
    });
    cancelGrace?.();
  };

  return {
    add,
    addAfter,
    drain,
    get depth() {
      return waiting.size;
    },
  };
};
