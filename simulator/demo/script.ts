import type { Clock } from '../../src/ports/clock.ts';
import type { LiveOptions } from './live.ts';
import type { Stage } from './stage.ts';

/**
 * Keys, each with the milliseconds to wait before: the network of one shoot fails for longer than KCM's grace period, and beside it the etcd of another. The
 * unprotected twin has both faults, for comparison.
 */
const script: readonly (readonly [afterMs: number, keys: string])[] = [
  [1_500, 'c'],
  [2_000, '2e'],
  [20_000, 'm'],
  [24_000, '1r'],
  [20_000, 'q'],
];

const lookEveryMs = 250;
/** How long the script waits for the prober, in milliseconds. */
const longestMs = 60_000;

export interface ScriptOptions {
  readonly stage: Stage;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Returns a `listen` by which a script presses the keys, as soon as the prober has probed every shoot. */
export const scriptedKeys =
  ({ stage, clock, signal }: ScriptOptions): LiveOptions['listen'] =>
  (onKeys) => {
    const play = async (): Promise<void> => {
      const latest = clock.monotonic() + longestMs;
      while (!stage.isWatched && clock.monotonic() < latest) await clock.sleep(lookEveryMs, signal);
      for (const [afterMs, keys] of script) {
        await clock.sleep(afterMs, signal);
        onKeys(keys);
      }
    };
    // It rejects only with the reason for which the demo ends.
    void play().catch(() => undefined);
  };
