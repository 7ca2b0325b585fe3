import type { Clock } from '../../src/ports/clock.ts';

/** Returns the `sleep` of a clock that has this `timer`. */
export const sleepBy =
  (timer: Clock['timer']): Clock['sleep'] =>
  async (ms, signal) => {
    signal.throwIfAborted();
    if (ms <= 0) return;
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = timer(ms, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort, { once: true });
    });
  };
