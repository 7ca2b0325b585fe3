export interface RunPoolOptions<T> {
  /** Runs at the same time. */
  readonly concurrency: number;
  /** Must not reject. */
  readonly run: (item: T) => Promise<void>;
}

/** Runs items by key, never two of one key at the same time. */
export class RunPool<T> {
  readonly #options: RunPoolOptions<T>;
  readonly #running = new Map<string, Promise<void>>();
  #waiting = new Map<string, T>();
  /** Items whose key was running when they were offered first. */
  readonly #again = new Map<string, T>();
  #isClosed = false;

  constructor(options: RunPoolOptions<T>) {
    this.#options = options;
  }

  /**
   * Replaces what waits. A key that runs is left out; a key that waits keeps its place and gets the newer item, so that the last ones get their
   * turn even if there are too many.
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

  /** Runs this item before all that wait. If its key runs, it runs once more after that. */
  offerFirst(key: string, item: T): void {
    if (this.#running.has(key)) this.#again.set(key, item);
    else this.#putFirst(key, item);
    this.#fill();
  }

  /** Starts nothing more; resolves when all that runs has ended. */
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
