/** The only source of time. It is virtual in simulations, so that hours of outage run in seconds. */
export interface Clock {
  /** Wall clock: milliseconds since the epoch. It may jump; never measure a span with it. */
  now(): number;
  /** Monotonic clock in milliseconds from an arbitrary origin. It never jumps. */
  monotonic(): number;
  /** Resolves after `ms` of monotonic time (at once when `ms <= 0`); rejects with `signal.reason` as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms` of monotonic time. Returns the function that cancels it; cancelling twice is harmless. */
  timer(ms: number, callback: () => void): () => void;
}
