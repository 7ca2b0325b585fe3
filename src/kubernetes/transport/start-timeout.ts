import type { Clock } from '../../ports/clock.ts';

/** A timer that fires this late, in milliseconds, shows that the process was held up: suspended, or short of CPU. */
const heldUpMs = 100;

/**
 * Calls `onTimeout` once after `ms`. If the process was held up beyond that time, it first reads the bytes that have arrived meanwhile, because the
 * response may be among them. Returns the function that cancels the timeout.
 */
export const startTimeout = (clock: Clock, ms: number, onTimeout: () => void): (() => void) => {
  const due = clock.monotonic() + ms;
  let cancel = clock.timer(ms, () => {
    if (clock.monotonic() - due < heldUpMs) onTimeout();
    else cancel = clock.timer(0, onTimeout);
  });
  return () => cancel();
};
