import { abortable } from '../kubernetes/transport/index.ts';
import type { Clock } from '../ports/clock.ts';

/** Longest delay that setTimeout accepts, in milliseconds; a longer one fires after 1 ms. */
const longestTimeout = 2 ** 31 - 1;

/** The machine's clock. Its timers keep the process alive until they fire or are cancelled. One of 0 ms fires after the event loop has polled the sockets. */
export const systemClock = (): Clock => {
  const monotonic = (): number => performance.now();

  const timer = (ms: number, callback: () => void): (() => void) => {
    if (ms <= 0) {
      const handle = setImmediate(callback);
      return () => clearImmediate(handle);
    }
    const due = monotonic() + ms;
    let handle: NodeJS.Timeout;
    const wait = (left: number): void => {
      handle = setTimeout(
        () => {
          // setTimeout may fire a fraction of a millisecond early.
          const rest = due - monotonic();
          if (rest > 0) wait(rest);
          else callback();
        },
        Math.min(Math.max(Math.ceil(left), 0), longestTimeout),
      );
    };
    wait(ms);
    return () => clearTimeout(handle);
  };

  const sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    if (ms <= 0 && !signal.aborted) return Promise.resolve();
    return abortable(signal, (resolve) => timer(ms, () => resolve()));
  };

  return { now: () => Date.now(), monotonic, sleep, timer };
};
