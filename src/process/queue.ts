import type { Clock } from '../ports/clock.ts';

/** Back-off after the first failure; each further failure doubles it (client-go's DefaultTypedControllerRateLimiter). */
const firstBackoffMs = 5;
const longestBackoffMs = 1_000_000;

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Maximum number of keys processed at the same time, at least 1. Default 1. */
  readonly concurrency?: number;
  /** Slow keys. At most `concurrency` of them are processed at the same time, so that they do not block the others. */
  readonly limited?: { readonly has: (key: string) => boolean; readonly concurrency: number };
  readonly reconcile: (key: string) => Promise<void>;
  /** Called after every failure. Must not throw. */
  readonly onError: (key: string, error: unknown) => void;
}

interface Delayed {
  readonly due: number;
  readonly cancel: () => void;
}

/**
 * Work queue with workers, like client-go's rate limited `util/workqueue` and controller-runtime's `reconcileHandler` in one. A key is never processed twice
 * at the same time, and is retried after a failure.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #running = new Set<string>();
  readonly #limitedRunning = new Set<string>();
  readonly #runAgain = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  readonly #onDrained: (() => void)[] = [];
  readonly #waiting = new Set<string>();
  #closed = false;
  #scheduled = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Adds a key. One that already waits keeps its place; one that is being processed gets exactly one more run. */
  add(key: string): void {
    if (this.#closed) return;
    if (this.#running.has(key)) {
      this.#runAgain.add(key);
      return;
    }
    this.#waiting.add(key);
    this.#schedule();
  }

  /** Adds a key after `ms`. If the key is already delayed, the earlier time applies. */
  addAfter(key: string, ms: number): void {
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

  /** Drops the waiting keys, starts nothing new and resolves when all runs have ended. */
  async drain(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }

  /** Starts work in a microtask, never in the caller's stack, so that a reconcile does not interrupt the caller that adds its key. */
  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#start());
  }

  #start(): void {
    this.#scheduled = false;
    const { concurrency = 1, limited } = this.#options;
    for (const key of this.#waiting) {
      if (this.#running.size >= concurrency) return;
      if (limited?.has(key) === true) {
        if (this.#limitedRunning.size >= limited.concurrency) continue;
        this.#limitedRunning.add(key);
      }
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#options.reconcile(key);
      this.#failures.delete(key);
    } catch (error) {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.addAfter(key, Math.min(firstBackoffMs * 2 ** failures, longestBackoffMs));
      this.#options.onError(key, error);
    } finally {
      this.#running.delete(key);
      this.#limitedRunning.delete(key);
      if (this.#runAgain.delete(key)) this.add(key);
      this.#schedule();
      if (this.#running.size === 0) for (const resolve of this.#onDrained) resolve();
    }
  }
}
