import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { Clock } from '../ports/clock.ts';

/** What every step of an installation works with. */
export interface InstallContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Aborts when the user has had enough. */
  readonly signal: AbortSignal;
  /** Hears what is waited for, in one line. */
  readonly progress: (line: string) => void;
  /** Monotonic instant until which is waited. */
  readonly deadline: number;
}

/** An installation that cannot be made, removed or finished, in words for people. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
  /** More of it, a line each. */
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

/** Asks again and again until there is an answer. Undefined when the time is up. */
export const poll = async <T>(context: InstallContext, ask: () => Promise<T | undefined>): Promise<T | undefined> => {
  const { clock, signal, deadline } = context;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || clock.monotonic() >= deadline) return answer;
    await clock.sleep(pollMs, signal);
  }
};
