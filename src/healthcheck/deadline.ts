import type { Clock } from '../ports/clock.ts';

export interface Deadline {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly ms: number;
  /** Message of the signal's reason when the time is over. */
  readonly late: string;
  readonly signal: AbortSignal;
}

/** Runs `work` with a signal that aborts with `signal`, or when the time is over. Settles as `work` does, which must obey its signal. */
export const withDeadline = async <T>(
  { clock, ms, late, signal }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const end = new AbortController();
  const follow = (): void => end.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  const cancel = clock.timer(ms, () => end.abort(new Error(late)));
  try {
    return await work(end.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', follow);
  }
};
