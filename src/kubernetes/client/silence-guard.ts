import type { Clock } from '../../ports/clock.ts';
import { startTimeout } from '../transport/index.ts';

/** Limits the silence of a stream. */
export interface SilenceGuard {
  /** Restarts the limit because bytes arrived, and ends a pause. */
  heard(): void;
  /** Ignores silence until `heard` is called: it is not the server's fault while we do not read. */
  pause(): void;
  stop(): void;
}

export interface SilenceGuardOptions {
  readonly clock: Clock;
  /** Longest allowed silence in milliseconds. */
  readonly limitMs: number;
  /** Called once, when the time since the last byte reaches the limit, with that limit. */
  readonly onSilence: (limitMs: number) => void;
}

export const guardSilence = ({ clock, limitMs, onSilence }: SilenceGuardOptions): SilenceGuard => {
  let last = clock.monotonic();
  let isPaused = false;
  let stop: () => void;
  const check = (): void => {
    const left = last + limitMs - clock.monotonic();
    if (isPaused) wait(limitMs);
    else if (left > 0) wait(left);
    else onSilence(limitMs);
  };
  const wait = (ms: number): void => {
    stop = startTimeout(clock, ms, check);
  };
  wait(limitMs);
  return {
    heard: () => {
      last = clock.monotonic();
      isPaused = false;
    },
    pause: () => {
      isPaused = true;
    },
    stop: () => stop(),
  };
};
