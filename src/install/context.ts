import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { Clock } from '../ports/clock.ts';

/** Client, clock and limits of every step of an installation. */
export interface InstallContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Aborts when the user stops the command. */
  readonly signal: AbortSignal;
  /** Called with the current step, in one line. */
  readonly progress: (line: string) => void;
  /** Monotonic time at which waits end, in milliseconds. */
  readonly deadline: number;
}

/** Error with a text for people: an installation cannot be made, removed or finished. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
  /** Further lines of the error. */
  readonly details: readonly string[];

  constructor(message: string, details: readonly string[] = []) {
    super(message);
    this.details = details;
  }
}

const requestTimeoutMs = 30_000;
const pollMs = 500;

export const callOptions = ({ signal }: Pick<InstallContext, 'signal'>): CallOptions => ({
  signal,
  timeoutMs: requestTimeoutMs,
});

/** Calls `ask` until it returns a result. Returns undefined after the deadline. */
export const poll = async <T>(context: InstallContext, ask: () => Promise<T | undefined>): Promise<T | undefined> => {
  const { clock, signal, deadline } = context;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || clock.monotonic() >= deadline) return answer;
    await clock.sleep(pollMs, signal);
  }
};
