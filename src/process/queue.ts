import type { Clock } from '../ports/clock.ts';

/** First wait after a failure, doubled by each further one (client-go's DefaultTypedControllerRateLimiter). */
const firstBackoffMs = 5;
const longestBackoffMs = 1_000_000;
/** 5 ms * 2^18 is beyond the longest back-off already; more doublings only risk an overflow. */
const mostDoublings = 18;

export interface WorkQueueOptions<K> {
  readonly clock: Clock;
  /** Keys processed at the same time, at least 1. */
  readonly concurrency: number;
  /** Slow keys, which would keep the others waiting: at most `concurrency` of them are processed at the same time. */
  readonly limited?: { readonly has: (key: K) => boolean; readonly concurrency: number };
  /** Called with one key at a time; `signal` aborts when `drain` runs out of grace. */
  readonly reconcile: (key: K, signal: AbortSignal) => Promise<void>;
  /** Hears every failure; `failures` counts those since the key's last success, this one included. Must not throw. */
  readonly onError?: (key: K, error: unknown, failures: number) => void;
  /** True for an error that a retry cannot mend: the key is forgotten until it is added again. */
  readonly isTerminal?: (error: unknown) => boolean;
}

interface Delayed {
  readonly due: number;
  readonly cancel: () => void;
}

/**
 * client-go's rate limited work queue with its workers: `util/workqueue` and controller-runtime's `reconcileHandler` in one. Keys are
 * compared as a Map does: use strings. A key is never processed twice at the same time.
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

  /** Keys waiting, not counting delayed or running ones. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Adding a key that waits changes nothing; adding one that runs gives it exactly one more run. */
  add(key: K): void {
    if (this.#closed) return;
    if (this.#running.has(key)) {
      this.#runAgain.add(key);
      return;
    }
    this.#waiting.add(key);
    this.#schedule();
  }

  /** Adds after `ms`; of two pending delays for one key the earlier wins. */
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
   * Drops what waits, starts nothing new and resolves when what runs has ended. Runs that take longer than `graceMs` see their
   * signal abort; without `graceMs` they get all the time they take.
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

  /** Starts work in a microtask, never within the caller's stack: a reconcile does not interrupt who adds its key. */
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
