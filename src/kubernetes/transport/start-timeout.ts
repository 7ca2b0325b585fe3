import type { Clock } from '../../ports/clock.ts';

/** A timer that fires so late, in milliseconds, shows a process that was held up: suspended, or short of CPU. */
const heldUpMs = 100;

/**
 * Calls `onTimeout` once after `ms`; where the process was held up until later, it first takes in what has arrived meanwhile: the answer may be
 * there. Returns the function that cancels it.
 */
export const startTimeout = (clock: Clock, ms: number, onTimeout: () => void): (() => void) => {
  const due = clock.monotonic() + ms;
  let cancel = clock.timer(ms, () => {
    if (clock.monotonic() - due < heldUpMs) onTimeout();
    else cancel = clock.timer(0, onTimeout);
  });
  return () => cancel();
};
