import type { Clock } from '../../ports/clock.ts';

/** How often it is asked how late the event loop is, in milliseconds. */
const pulseMs = 250;

/** For how long this process did not run though it should have: suspended, or short of CPU. It is seen by timers that fire late; a virtual clock has none. */
export interface HoldUp {
  /** Milliseconds so far. */
  ms(): number;
  /** Ends the measurement. Harmless when repeated. */
  end(): void;
}

/** Measures until `end`. */
export const measureHoldUp = (clock: Clock): HoldUp => {
  let total = 0;
  let due: number;
  let cancel: () => void;
  const lateMs = (): number => Math.max(0, clock.monotonic() - due);
  const pulse = (): void => {
    due = clock.monotonic() + pulseMs;
    cancel = clock.timer(pulseMs, () => {
      total += lateMs();
      pulse();
    });
  };
  pulse();
  return {
    ms: () => total + lateMs(),
    end: () => {
      total += lateMs();
      due = Number.POSITIVE_INFINITY;
      cancel();
    },
  };
};
