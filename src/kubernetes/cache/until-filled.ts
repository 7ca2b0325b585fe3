import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Informer } from './informer.ts';
import { waitForSync } from './wait-for-sync.ts';

export interface FillOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** How often it is said that caches are not filled. */
const fillMs = 30_000;

/** As long as it takes, saying what is missing and why: a watchdog that crash-loops protects nobody. Rejects on abort only. */
export const untilFilled = async (
  informers: readonly Informer<unknown>[],
  { clock, logger, signal }: FillOptions,
): Promise<void> => {
  for (;;) {
    try {
      await waitForSync(informers, { clock, timeoutMs: fillMs, signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      logger.error('caches are not filled yet', { problem: error instanceof Error ? error.message : String(error) });
    }
  }
};
