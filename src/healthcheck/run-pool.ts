export interface RunPoolOptions<T> {
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
  /** Runs an item. Must not reject. */
  readonly run: (item: T) => Promise<void>;
}

/** Runs items with a limited concurrency, and never two items of one key at the same time. */
export class RunPool<T> {
  readonly #options: RunPoolOptions<T>;
  readonly #running = new Map<string, Promise<void>>();
  #waiting = new Map<string, T>();
  /** Items from `offerFirst` whose key was running, by key. They run next. */
  readonly #again = new Map<string, T>();
  #isClosed = false;

  constructor(options: RunPoolOptions<T>) {
    this.#options = options;
  }

  /**
   * Replaces the waiting items. A running key is left out; a waiting key keeps its place and gets the new item, so that every key gets its turn even if there
   * are too many.
   */
  offer(items: ReadonlyMap<string, T>): void {
    const next = new Map<string, T>();
    for (const key of [...this.#waiting.keys(), ...items.keys()]) {
      const item = items.get(key);
      if (item !== undefined && !this.#running.has(key)) next.set(key, item);
    }
    this.#waiting = next;
    this.#fill();
  }

  /** Puts an item before all waiting ones. If its key is running, the item runs after that run. */
  offerFirst(key: string, item: T): void {
    if (this.#running.has(key)) this.#again.set(key, item);
    else this.#putFirst(key, item);
    this.#fill();
  }

  /** Stops new runs. Resolves when all running items have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running.values());
  }

  #fill(): void {
    for (const [key, item] of this.#waiting) {
      if (this.#isClosed || this.#running.size >= this.#options.concurrency) return;
      this.#start(key, item);
    }
  }

  #start(key: string, item: T): void {
    this.#waiting.delete(key);
    const ended = this.#options.run(item).finally(() => {
      this.#running.delete(key);
      const next = this.#again.get(key);
      if (next !== undefined && this.#again.delete(key)) this.#putFirst(key, next);
      this.#fill();
    });
    this.#running.set(key, ended);
  }

  #putFirst(key: string, item: T): void {
    this.#waiting.delete(key);
    this.#waiting = new Map([[key, item], ...this.#waiting]);
  }
}
