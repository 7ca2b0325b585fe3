import { errorText } from '../api/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { runInScope } from '../transport/index.ts';
import type { InformerState } from './informer.ts';

interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface SyncOptions extends Waiting {
  /** Timeout in milliseconds. Absent: none; then `logger` tells what is missing. */
  readonly timeoutMs?: number | undefined;
  readonly logger?: Logger;
}

/** The part of an informer that a wait needs. */
export interface Syncing {
  readonly name: string;
  whenSynced(signal: AbortSignal): Promise<void>;
  state(): Pick<InformerState, 'synced' | 'lastError'>;
}

/** Interval at which a wait without a timeout logs the caches that are not synced. */
const logEveryMs = 30_000;

const notSynced = (informers: readonly Syncing[], timeoutMs: number): Error => {
  const missing = informers.filter((informer) => !informer.state().synced);
  const reasons = missing.map((informer) => {
    const { lastError } = informer.state();
    return `${informer.name} (${lastError?.message ?? 'no response to the list yet'})`;
  });
  return new Error(`caches were not filled within ${timeoutMs} ms: ${reasons.join('; ')}`);
};

/**
 * Resolves when all caches are synced. After `timeoutMs` it rejects with an error that names those that are not, and why. Without a
 * timeout it logs that and goes on waiting: a watchdog that crash-loops protects nobody. Rejects with the signal's reason on abort.
 */
export const waitForSync = async (
  informers: readonly Syncing[],
  { clock, signal, logger, timeoutMs }: SyncOptions,
): Promise<void> => {
  const ms = timeoutMs ?? logEveryMs;
  const scope = { signal, clock, timeoutMs: ms, onTimeout: () => notSynced(informers, ms) };
  for (;;) {
    try {
      await runInScope(scope, (until) => Promise.all(informers.map((informer) => informer.whenSynced(until))));
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (timeoutMs !== undefined) throw error;
      logger?.error('caches are not filled yet', { problem: errorText(error) });
    }
  }
};

/** Interval at which `waitUntilOrDeadline` checks its condition. */
const pollMs = 50;

/** Waits for optional caches: resolves when `isSettled`, or at `deadline`, a monotonic instant in milliseconds. Rejects with the signal's reason on abort. */
export const waitUntilOrDeadline = async (
  isSettled: () => boolean,
  { clock, signal, deadline }: Waiting & { readonly deadline: number },
): Promise<void> => {
  while (!isSettled() && clock.monotonic() < deadline) await clock.sleep(pollMs, signal);
};
