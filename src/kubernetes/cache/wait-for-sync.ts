import type { Clock } from '../../ports/clock.ts';
import type { InformerState } from './informer.ts';

export interface WaitForSyncOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What is needed of an informer. */
export interface Syncing {
  readonly name: string;
  whenSynced(signal: AbortSignal): Promise<void>;
  state(): Pick<InformerState, 'synced' | 'lastError'>;
}

/**
 * Resolves when all caches are filled. After `timeoutMs` rejects with an error that names those that are not and why; on abort with the
 * signal's reason.
 */
export const waitForSync = async (informers: readonly Syncing[], options: WaitForSyncOptions): Promise<void> => {
  const { clock, timeoutMs, signal } = options;
  const stop = new AbortController();
  const follow = (): void => stop.abort(signal.reason);
  const cancel = clock.timer(timeoutMs, () => stop.abort(notSynced(informers, timeoutMs)));
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow);
  try {
    await Promise.all(informers.map((informer) => informer.whenSynced(stop.signal)));
  } finally {
    cancel();
    signal.removeEventListener('abort', follow);
  }
};

const notSynced = (informers: readonly Syncing[], timeoutMs: number): Error => {
  const missing = informers.filter((informer) => !informer.state().synced);
  const reasons = missing.map((informer) => {
    const { lastError } = informer.state();
    return `${informer.name} (${lastError?.message ?? 'no answer to the list yet'})`;
  });
  return new Error(`caches were not filled within ${timeoutMs} ms: ${reasons.join('; ')}`);
};
