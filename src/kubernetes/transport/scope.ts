import type { Clock } from '../../ports/clock.ts';
import { startTimeout } from './start-timeout.ts';

/**
 * The lifetime of one piece of work: ends by itself, by its caller's signal, or by a failure such as a deadline. Unlike `AbortSignal.any`, it
 * leaves nothing in the caller's signal, on which every request of a process hangs: Node 20 keeps 37 bytes of each, and 1.2 KB where a listener
 * stays.
 */
export interface Scope {
  readonly signal: AbortSignal;
  /** Aborts `signal` with `reason`, unless the scope has ended. */
  fail(reason: unknown): void;
  /** Lets go of the caller's signal and of all timers. Harmless when repeated. */
  end(): void;
}

export interface ScopeOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Undefined: no time-out. */
  readonly timeoutMs?: number | undefined;
  /** Makes the reason of a time-out. */
  readonly onTimeout?: () => unknown;
}

export const createScope = ({ signal, clock, timeoutMs, onTimeout }: ScopeOptions): Scope => {
  const controller = new AbortController();
  const follow = (): void => fail(signal.reason);
  let ended = false;
  const end = (): void => {
    ended = true;
    signal.removeEventListener('abort', follow);
    cancel?.();
  };
  const fail = (reason: unknown): void => {
    if (ended) return;
    end();
    controller.abort(reason);
  };
  const cancel = timeoutMs === undefined ? undefined : startTimeout(clock, timeoutMs, () => fail(onTimeout?.()));
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow);
  return { signal: controller.signal, fail, end };
};

/** Runs `work` with a signal that aborts with the caller's, or on a time-out. Settles as `work` does, which must obey its signal. */
export const runInScope = async <T>(options: ScopeOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const scope = createScope(options);
  try {
    return await work(scope.signal);
  } finally {
    scope.end();
  }
};
