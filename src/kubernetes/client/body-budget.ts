/** The part of a budget that one body takes. */
export interface BodyShare {
  /**
   * Undefined: the body holds `bytes` from now on; less than before is given back. A promise: others hold too much, and it resolves when the body may. Rejects with
   * the signal's reason.
   */
  readonly resize: (bytes: number, signal: AbortSignal) => Promise<void> | undefined;
  readonly release: () => void;
}

/** Memory for the bodies that are coming in at the same time. */
export interface BodyBudget {
  readonly limitBytes: number;
  readonly open: () => BodyShare;
  /** Bytes that are taken, for tests and figures. */
  readonly taken: () => number;
}

interface Waiting {
  readonly bytes: number;
  readonly proceed: () => void;
}

/**
 * First come, first served. One body may hold far less than `limitBytes` (see `BodyReader.held`), so that it takes many to fill it. Those that trickle, and those
 * that wait while they hold something, can keep it full: whoever waits needs a deadline.
 */
export const createBodyBudget = (limitBytes: number): BodyBudget => {
  const waiting = new Set<Waiting>();
  let taken = 0;

  const fits = (bytes: number): boolean => taken + bytes <= limitBytes;

  const wake = (): void => {
    for (const entry of waiting) {
      if (!fits(entry.bytes)) return;
      waiting.delete(entry);
      taken += entry.bytes;
      entry.proceed();
    }
  };

  const grow = (bytes: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(entry);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        wake();
        reject(signal.reason);
      };
      const entry: Waiting = {
        bytes,
        proceed: () => {
          leave();
          resolve();
        },
      };
      waiting.add(entry);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });

  const open = (): BodyShare => {
    let own = 0;
    return {
      resize: (bytes, signal) => {
        const more = bytes - own;
        const take = (): void => {
          own = bytes;
        };
        if (more > 0 && (waiting.size > 0 || !fits(more))) return grow(more, signal).then(take);
        taken += more;
        take();
        if (more < 0) wake();
        return undefined;
      },
      release: () => {
        taken -= own;
        own = 0;
        wake();
      },
    };
  };

  return { limitBytes, open, taken: () => taken };
};
