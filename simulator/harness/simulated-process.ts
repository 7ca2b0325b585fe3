import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { untilAborted } from '../apiserver/index.ts';
import { OpenRequests } from '../network/index.ts';
import { sleepBy } from '../time/index.ts';

interface Due {
  readonly act: () => void;
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

export interface SimulatedProcessOptions {
  /** Seconds on the monotonic clock of the process per second of true time. Default 1. */
  readonly rate?: number;
  /** Order in which a resumed process does the work that came due while it was suspended. Default: the order in which it came due. */
  readonly orderDue?: <T>(entries: T[]) => T[];
}

/** Lets the promises run that are ready, as they do between Node's timers. */
const runPromises = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

/** Simulates a process: its clocks may be wrong, and it can be suspended (SIGSTOP) or killed (SIGKILL). */
export class SimulatedProcess {
  readonly clock: Clock;
  readonly #timers = new Set<() => void>();
  readonly #open = new OpenRequests<undefined>();
  readonly #orderDue: <T>(entries: T[]) => T[];
  #state: 'running' | 'suspended' | 'killed' = 'running';
  #wallOffset = 0;
  #due: Due[] = [];

  /** `clock` is the clock of true time. */
  constructor(clock: Clock, { rate = 1, orderDue = (entries) => entries }: SimulatedProcessOptions = {}) {
    this.#orderDue = orderDue;
    const timer: Clock['timer'] = (ms, callback) => this.#timer(clock, ms / rate, callback);
    this.clock = {
      now: () => clock.now() + this.#wallOffset,
      monotonic: () => clock.monotonic() * rate,
      timer,
      sleep: sleepBy(timer),
    };
  }

  /** Wraps `kube` for the process: a suspended or killed one receives nothing, not even chunks of open streams. */
  connect(kube: Kube): Kube {
    return { request: (asked) => this.#request(kube, asked) };
  }

  /** Delivers a signal: `handle` runs as soon as the process runs. */
  deliver(handle: () => void): void {
    this.#whenAwake(handle);
  }

  /** Suspends the process: until `resume` no timer fires and no response arrives. Requests that were sent are served all the same. */
  suspend(): void {
    if (this.#state === 'running') this.#state = 'suspended';
  }

  /** Resumes the process: everything that became due meanwhile happens now, in order, with a call of `settle` after each. */
  async resume(settle: () => Promise<void> = runPromises): Promise<void> {
    if (this.#state !== 'suspended') return;
    this.#state = 'running';
    for (const entry of this.#orderDue(this.#due)) {
      if (!this.#due.includes(entry)) continue;
      entry.act();
      await settle();
    }
    this.#due = [];
  }

  /** Ends all connections of the process. Its code never runs again, except for tasks that are already runnable, which have no effect outside. */
  kill(): void {
    this.#state = 'killed';
    this.#due = [];
    for (const cancel of [...this.#timers]) cancel();
    this.#open.abort(() => new Error('the process was killed'));
  }

  /** Sets how far the wall clock of the process is ahead of the true one, in milliseconds. */
  setWallOffset(ms: number): void {
    this.#wallOffset = ms;
  }

  /** Counts the timers that have not fired and the requests whose responses are not read to the end. */
  holds(): { readonly timers: number; readonly requests: number } {
    return { timers: this.#timers.size, requests: this.#open.size };
  }

  /** Calls `act` as soon as the process runs. Returns the function that cancels the call. */
  #whenAwake(act: () => void): () => void {
    if (this.#state === 'running') act();
    if (this.#state !== 'suspended') return () => undefined;
    const entry: Due = { act };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((other) => other !== entry);
    };
  }

  #timer(clock: Clock, ms: number, callback: () => void): () => void {
    if (this.#state === 'killed') return () => undefined;
    let takeBack = (): void => undefined;
    const cancelTimer = clock.timer(ms, () => {
      takeBack = this.#whenAwake(() => {
        this.#timers.delete(cancel);
        callback();
      });
    });
    const cancel = (): void => {
      this.#timers.delete(cancel);
      cancelTimer();
      takeBack();
    };
    this.#timers.add(cancel);
    return cancel;
  }

  /** Settles like `promise`, but only while the process runs. */
  #heard<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#whenAwake(() => resolve(value)),
        (error: unknown) => this.#whenAwake(() => reject(error)),
      );
    });
  }

  async #request(kube: Kube, asked: KubeRequest): Promise<KubeResponse> {
    if (this.#state === 'killed') return never();
    const answer = this.#open.send(asked, { kube, note: undefined, read: (chunk) => this.#heard(chunk) });
    return untilAborted(asked.signal, this.#heard(answer));
  }
}
