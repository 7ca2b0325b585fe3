import type { Clock } from '../../ports/clock.ts';
import { WaitQueue } from '../transport/index.ts';

export interface TokenBucketOptions {
  /** Tokens added per second, above 0; Infinity: no request ever waits. */
  readonly qps: number;
  /** Capacity of the bucket in tokens, a whole number of at least 1. It starts full. */
  readonly burst: number;
  readonly clock: Clock;
  /** Called with the number of waiting requests whenever it changes. */
  readonly onDepth: (depth: number) => void;
}

export interface TokenBucket {
  /** Returns how long the next request would wait, in milliseconds, if none before it gives up. */
  expectedWaitMs(): number;
  /** Takes a token, after waiting for it in order of arrival. Rejects with the reason on abort, without delaying later requests. */
  take(signal: AbortSignal): Promise<void>;
}

/**
 * Creates a token bucket. Throws a RangeError for a rate or burst that would never let a request through.
 *
 * Its state is one instant (the generic cell rate algorithm): when the bucket will be full again. A token is available while that is at most
 * `burst - 1` tokens away.
 */
export const createTokenBucket = ({ qps, burst, clock, onDepth }: TokenBucketOptions): TokenBucket => {
  if (!(qps > 0)) throw new RangeError(`rate limit: qps must be greater than 0, not ${qps}`);
  if (!(Number.isInteger(burst) && burst >= 1)) {
    throw new RangeError(`rate limit: burst must be 1 or more, not ${burst}`);
  }
  const intervalMs = 1_000 / qps;
  const line = new WaitQueue(onDepth);
  let fullAt = Number.NEGATIVE_INFINITY;
  let disarm: (() => void) | undefined;

  const nextTokenAt = (): number => fullAt - (burst - 1) * intervalMs;

  const spend = (): void => {
    fullAt = Math.max(fullAt, clock.monotonic()) + intervalMs;
  };

  /** Keeps one timer, for the first waiting request. */
  const arm = (): void => {
    if (disarm !== undefined || line.length === 0) return;
    disarm = clock.timer(nextTokenAt() - clock.monotonic(), () => {
      disarm = undefined;
      spend();
      line.wakeOne();
      arm();
    });
  };

  return {
    expectedWaitMs: () => Math.max(0, nextTokenAt() - clock.monotonic() + line.length * intervalMs),
    take: async (signal) => {
      signal.throwIfAborted();
      if (line.length === 0 && nextTokenAt() <= clock.monotonic()) {
        spend();
        return;
      }
      const turn = line.join(signal);
      arm();
      try {
        await turn;
      } finally {
        if (line.length === 0) {
          disarm?.();
          disarm = undefined;
        }
      }
    },
  };
};
