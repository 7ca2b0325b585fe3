import type { Clock } from '../../ports/clock.ts';

/** A timer that fires this late, in milliseconds, shows that the process was held up: suspended, or short of CPU. */
const heldUpMs = 100;

/**
 * Calls `onTimeout` once after `ms`. If the process was held up beyond that time, it first reads the bytes that have arrived meanwhile, because the
 * response may be among them. Returns the function that cancels the timeout.
 */
export const startTimeout = (clock: Clock, ms: number, onTimeout: () => void): (() => void) => {
  const due = clock.monotonic() + ms;
  let cancel = clock.timer(ms, () => {
    if (clock.monotonic() - due < heldUpMs) onTimeout();
    else cancel = clock.timer(0, onTimeout);
  });
  return () => cancel();
};

/**
 * The lifetime of one piece of work: ends by itself, by its caller's signal, or by a failure such as a timeout. Unlike `AbortSignal.any`, it
 * leaves nothing in the caller's signal, which all requests of a process share. Of a signal of `any` with a listener, Node 22.19 and 24 keep 200 to 400
 * bytes there (nodejs/node#64476); of others, Node 22.19 cleans up in quadratic time: 6,000 hold the event loop for 60 ms.
 */
export interface Scope {
  readonly signal: AbortSignal;
  /** Aborts `signal` with `reason`, unless the scope has ended. */
  fail(reason: unknown): void;
  /** From now on, the caller's signal has no effect. */
  leaveCaller(): void;
  /** Removes the listener from the caller's signal and cancels the timer. May be called again. */
  end(): void;
}

export interface ScopeOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Timeout in milliseconds. Undefined: none. */
  readonly timeoutMs?: number | undefined;
  /** Returns the reason for the abort on a timeout. */
  readonly onTimeout?: () => unknown;
}

export const createScope = ({ signal, clock, timeoutMs, onTimeout }: ScopeOptions): Scope => {
  const controller = new AbortController();
  const follow = (): void => fail(signal.reason);
  const leaveCaller = (): void => signal.removeEventListener('abort', follow);
  let ended = false;
  const end = (): void => {
    ended = true;
    leaveCaller();
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
  return { signal: controller.signal, fail, leaveCaller, end };
};

/** Runs `work` with a signal that aborts with the caller's, or on a timeout. Settles as `work` does, which must obey its signal. */
export const runInScope = async <T>(options: ScopeOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const scope = createScope(options);
  try {
    return await work(scope.signal);
  } finally {
    scope.end();
  }
};
