import type { Clock } from '../ports/clock.ts';

/** Back-off after the first failure; each further failure doubles it (client-go's DefaultTypedControllerRateLimiter). */
const firstBackoffMs = 5;
const longestBackoffMs = 1_000_000;
/** 5 ms * 2^18 exceeds the longest back-off; more doublings only risk an overflow. */
const mostDoublings = 18;

export interface WorkQueueOptions<K> {
  readonly clock: Clock;
  /** Maximum number of keys processed at the same time, at least 1. */
  readonly concurrency: number;
  /** Slow keys. At most `concurrency` of them are processed at the same time, so that they do not block the others. */
  readonly limited?: { readonly has: (key: K) => boolean; readonly concurrency: number };
  /** Called with one key. `signal` aborts when the grace period of `drain` is over. */
  readonly reconcile: (key: K, signal: AbortSignal) => Promise<void>;
  /** Called after every failure. `failures` counts those since the key's last success, including this one. Must not throw. */
  readonly onError?: (key: K, error: unknown, failures: number) => void;
  /** Returns true for an error that a retry cannot fix: the key is dropped until it is added again. */
  readonly isTerminal?: (error: unknown) => boolean;
}

interface Delayed {
  readonly due: number;
  readonly cancel: () => void;
}

/**
 * Work queue with workers, like client-go's rate limited `util/workqueue` and controller-runtime's `reconcileHandler` in one. Keys
 * are compared as in a Map: use strings. A key is never processed twice at the same time.
 */
export class WorkQueue<K> {
  readonly #options: WorkQueueOptions<K>;
  readonly #waiting = new Set<K>();
  readonly #running = new Set<K>();
  readonly #limitedRunning = new Set<K>();
  readonly #runAgain = new Set<K>();
  readonly #delayed = new Map<K, Delayed>();
  readonly #failures = new Map<K, number>();
  readonly #abort = new AbortController();
  readonly #onDrained: (() => void)[] = [];
  #closed = false;
  #scheduled = false;

  constructor(options: WorkQueueOptions<K>) {
    const { concurrency } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new RangeError(`work queue: concurrency must be a whole number of at least 1, is ${concurrency}`);
    }
    this.#options = options;
  }

  /** Number of waiting keys, without delayed and running ones. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Adds a key. One that already waits stays as it is; one that is being processed gets exactly one more run. */
  add(key: K): void {
    if (this.#closed) return;
    if (this.#running.has(key)) {
      this.#runAgain.add(key);
      return;
    }
    this.#waiting.add(key);
    this.#schedule();
  }

  /** Adds a key after `ms`. If the key is already delayed, the earlier time applies. */
  addAfter(key: K, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const { clock } = this.#options;
    const due = clock.monotonic() + ms;
    const pending = this.#delayed.get(key);
    if (pending !== undefined && pending.due <= due) return;
    pending?.cancel();
    const cancel = clock.timer(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { due, cancel });
  }

  /**
   * Drops the waiting keys, starts nothing new and resolves when all runs have ended. The signal of runs that take longer than
   * `graceMs` aborts; without `graceMs` they may take any time.
   */
  async drain(graceMs?: number): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    if (this.#running.size === 0) return;
    const cancelGrace =
      graceMs === undefined ? undefined : this.#options.clock.timer(graceMs, () => this.#abort.abort());
    await new Promise<void>((resolve) => this.#onDrained.push(resolve));
    cancelGrace?.();
  }

  /** Starts work in a microtask, never in the caller's stack, so that a reconcile does not interrupt the caller that adds its key. */
  #schedule(): void {
    if (this.#scheduled || this.#closed || this.#waiting.size === 0) return;
    if (this.#running.size >= this.#options.concurrency) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#start());
  }

  #start(): void {
    this.#scheduled = false;
    const { concurrency, limited } = this.#options;
    for (const key of this.#waiting) {
      if (this.#closed || this.#running.size >= concurrency) return;
      if (limited?.has(key) === true) {
        if (this.#limitedRunning.size >= limited.concurrency) continue;
        this.#limitedRunning.add(key);
      }
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: K): Promise<void> {
    try {
      await this.#options.reconcile(key, this.#abort.signal);
      this.#failures.delete(key);
    } catch (error) {
      this.#fail(key, error);
    } finally {
      this.#running.delete(key);
      this.#limitedRunning.delete(key);
      if (this.#runAgain.delete(key)) this.add(key);
      this.#schedule();
      if (this.#running.size === 0) for (const resolve of this.#onDrained) resolve();
    }
  }

  #fail(key: K, error: unknown): void {
    const { onError, isTerminal } = this.#options;
    const count = (this.#failures.get(key) ?? 0) + 1;
    if (isTerminal?.(error) === true) this.#failures.delete(key);
    else {
      this.#failures.set(key, count);
      this.addAfter(key, Math.min(firstBackoffMs * 2 ** Math.min(count - 1, mostDoublings), longestBackoffMs));
    }
    onError?.(key, error, count);
  }
}
