export interface RunPoolOptions<T> {
  /** Runs under way at the same time. */
  readonly concurrency: number;
  /** Must not reject. */
  readonly run: (item: T) => Promise<void>;
}

/** Runs items by key, never one key twice at the same time. */
export interface RunPool<T> {
  /**
   * What is to be run now. A key that still runs is left out; one that waits keeps its place and gets the newer item, so that the last ones
   * are not put off for ever where there are too many.
   */
  offer(items: ReadonlyMap<string, T>): void;
  /** Runs this one before all that wait; where its key runs, once more when that has ended. */
  offerFirst(key: string, item: T): void;
  /** Starts nothing more, and resolves when what runs has ended. */
  close(): Promise<void>;
}

export const createRunPool = <T>({ concurrency, run }: RunPoolOptions<T>): RunPool<T> => {
  let waiting = new Map<string, T>();
  const running = new Map<string, Promise<void>>();
  /** Items that came while their key was running. */
  const again = new Map<string, T>();
  let closed = false;

  const start = (key: string, item: T): void => {
    waiting.delete(key);
    const ended = run(item).finally(() => {
      running.delete(key);
      const next = again.get(key);
      if (next !== undefined && again.delete(key)) putFirst(key, next);
      fill();
    });
    running.set(key, ended);
  };

  const putFirst = (key: string, item: T): void => {
    waiting.delete(key);
    waiting = new Map([[key, item], ...waiting]);
  };

  const fill = (): void => {
    for (const [key, item] of waiting) {
      if (closed || running.size >= concurrency) return;
      start(key, item);
    }
  };

  return {
    offer: (items) => {
      const keys = [...waiting.keys(), ...items.keys()];
      const next = new Map<string, T>();
      for (const key of keys) {
        const item = items.get(key);
        if (item !== undefined && !running.has(key)) next.set(key, item);
      }
      waiting = next;
      fill();
    },
    offerFirst: (key, item) => {
      if (running.has(key)) again.set(key, item);
      else putFirst(key, item);
      fill();
    },
    close: async () => {
      closed = true;
      await Promise.all(running.values());
    },
  };
};
