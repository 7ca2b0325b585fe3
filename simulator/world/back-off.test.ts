import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BackOff, afterRestart, restartDelay } from './pod-kubelet.ts';

const limits = { firstMs: 10_000, longestMs: 300_000 };

/** Returns the delays before the restarts of a container whose runs last as long as each of `runs`. All in milliseconds. */
const delays = (runs: readonly number[]): readonly number[] => {
  let backOff: BackOff | undefined;
  let now = 0;
  return runs.map((run) => {
    const endedAt = now + run;
    const delay = restartDelay(backOff, endedAt, limits);
    now = endedAt + delay;
    backOff = afterRestart(backOff, { endedAt, restartedAt: now }, limits);
    return delay;
  });
};

describe('the back-off of a container', () => {
  it('restarts it at once, then after ten seconds, then doubles the delay up to five minutes', () => {
    const seconds = delays(Array.from({ length: 9 }, () => 1_000)).map((ms) => ms / 1000);
    expect(seconds).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('does not depend on how long the container ran before its first end', () => {
    expect(delays([86_400_000, 1_000, 1_000])).toEqual([0, 10_000, 20_000]);
  });

  it('is reset after more than ten minutes of running, not before', () => {
    expect(delays([0, 0, 0, 600_000, 0])).toEqual([0, 10_000, 20_000, 40_000, 80_000]);
    expect(delays([0, 0, 0, 600_001, 0, 0])).toEqual([0, 10_000, 20_000, 0, 10_000, 20_000]);
  });

  it('never shrinks while the container does not run for long', () => {
    const run = fc.oneof(fc.nat(700_000), fc.constantFrom(0, 600_000, 600_001));
    fc.assert(
      fc.property(fc.array(run), (runs) => {
        const found = delays(runs);
        for (const [index, delay] of found.entries()) {
          const before = found[index - 1];
          const forgotten = before === undefined || runs[index]! > 600_000;
          const doubled = before === 0 ? 10_000 : Math.min(2 * (before ?? 0), 300_000);
          expect(delay).toBe(forgotten ? 0 : doubled);
        }
      }),
    );
  });
});
