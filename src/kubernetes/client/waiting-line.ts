/** Those who wait for their turn, first come, first served. */
export interface WaitingLine {
  readonly length: number;
  /** Waits at the end of the line. Resolves when called up; leaves the line and rejects with the signal's reason on abort. */
  join(signal: AbortSignal): Promise<void>;
  /** Lets the first one go. Nothing happens when nobody waits. */
  callUp(): void;
}

/** `onChange` hears every new length. */
export const createWaitingLine = (onChange: (length: number) => void): WaitingLine => {
  const waiters = new Set<() => void>();
  return {
    get length() {
      return waiters.size;
    },
    join: (signal) =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          waiters.delete(go);
          signal.removeEventListener('abort', abort);
          onChange(waiters.size);
        };
        const go = (): void => {
          leave();
          resolve();
        };
        const abort = (): void => {
          leave();
          reject(signal.reason);
        };
        waiters.add(go);
        onChange(waiters.size);
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort);
      }),
    callUp: () => {
      const [first] = waiters;
      first?.();
    },
  };
};
