import type { Clock } from '../../ports/clock.ts';

/** Interval at which the delay of the event loop is measured, in milliseconds. */
const pulseMs = 250;

/** Time for which this process did not run because it was suspended or short of CPU, measured by timers that fire late. Always 0 with a virtual clock. */
export interface ProcessStall {
  /** Returns the milliseconds so far. */
  ms(): number;
  /** Ends the measurement. May be called again. */
  end(): void;
}

/** Starts a measurement, which lasts until `end`. */
export const measureStall = (clock: Clock): ProcessStall => {
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
