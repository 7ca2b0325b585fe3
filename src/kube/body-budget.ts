/** The part of a budget that one body takes. */
export interface BodyShare {
  /** Resolves when the body may hold `bytes`; less than before is given back at once. Rejects with the signal's reason. */
  readonly resize: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly release: () => void;
}

/** Memory for the bodies that are coming in at the same time. */
export interface BodyBudget {
  readonly open: () => BodyShare;
  /** Bytes that are taken, for tests and figures. */
  readonly taken: () => number;
}

interface Waiting {
  readonly bytes: number;
  readonly proceed: () => void;
}

/**
 * First come, first served. `limitBytes` is many times what one body can hold (see `BodyReader.held`), so that a few that trickle cannot take it all, and all that wait
 * for more of it are ended by their deadlines.
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
      resize: async (bytes, signal) => {
        const more = bytes - own;
        if (more > 0 && (waiting.size > 0 || !fits(more))) await grow(more, signal);
        else taken += more;
        own = bytes;
        if (more < 0) wake();
      },
      release: () => {
        taken -= own;
        own = 0;
        wake();
      },
    };
  };

  return { open, taken: () => taken };
};
