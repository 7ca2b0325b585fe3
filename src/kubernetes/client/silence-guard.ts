import type { Clock } from '../../ports/clock.ts';

/** A timer that fires so late is that of a process that stood still: it has not read yet what came meanwhile. */
const stalledMs = 1_000;

/** Watches over a stream that must not fall silent. */
export interface SilenceGuard {
  /** Something came; a pause is over. */
  heard(): void;
  /** Until something is heard, silence is no fault of the other side: we do not listen. */
  pause(): void;
  /** From now on silence must not last longer than `ms`. */
  limit(ms: number): void;
  stop(): void;
}

export interface SilenceGuardOptions {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly limitMs: number;
  /** Called once, with the limit that silence has reached, measured from the last byte. */
  readonly onSilence: (limitMs: number) => void;
}

export const guardSilence = ({ clock, limitMs, onSilence }: SilenceGuardOptions): SilenceGuard => {
  let limit = limitMs;
  let last = clock.monotonic();
  let isPaused = false;
  let stop: () => void;
  const check = (dueAt: number): void => {
    const now = clock.monotonic();
    const left = last + limit - now;
    if (isPaused) wait(limit);
    else if (left > 0) wait(left);
    else if (now - dueAt > stalledMs) wait(stalledMs);
    else onSilence(limit);
  };
  const wait = (ms: number): void => {
    const dueAt = clock.monotonic() + ms;
    stop = clock.timer(ms, () => check(dueAt));
  };
  wait(limit);
  return {
    heard: () => {
      last = clock.monotonic();
      isPaused = false;
    },
    pause: () => {
      isPaused = true;
    },
    limit: (ms) => {
      if (ms === limit) return;
      limit = ms;
      stop();
      wait(last + limit - clock.monotonic());
    },
    stop: () => stop(),
  };
};
