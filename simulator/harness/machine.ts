import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { followBody } from '../apiserver/index.ts';
import { sleepBy } from '../time/index.ts';

interface Due {
  readonly act: () => void;
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** The machine of one process: its wall clock may be wrong, and the process can be suspended (SIGSTOP) or killed (SIGKILL). */
export class SimulatedProcess {
  readonly clock: Clock;
  readonly #timers = new Set<() => void>();
  readonly #exchanges = new Set<AbortController>();
  #state: 'running' | 'suspended' | 'killed' = 'running';
  #wallOffset = 0;
  #due: Due[] = [];

  /** Runs at true time; `clock` is the true one. */
  constructor(clock: Clock) {
    const timer: Clock['timer'] = (ms, callback) => this.#timer(clock, ms, callback);
    this.clock = {
      now: () => clock.now() + this.#wallOffset,
      monotonic: () => clock.monotonic(),
      timer,
      sleep: sleepBy(timer),
    };
  }

  /** What the process sends through it and what it hears, streams included. */
  connect(kube: Kube): Kube {
    return { request: (asked) => this.#request(kube, asked) };
  }

  /** As a signal: handled as soon as the process runs. */
  deliver(handle: () => void): void {
    this.#whenAwake(handle);
  }

  /** No timer fires and no answer is heard until it is resumed; requests that were sent are served all the same. */
  suspend(): void {
    if (this.#state === 'running') this.#state = 'suspended';
  }

  /** Everything that came due meanwhile happens now, in that order, and `settle` in between. */
  async resume(settle: () => Promise<void>): Promise<void> {
    if (this.#state !== 'suspended') return;
    this.#state = 'running';
    for (const entry of this.#due) {
      if (!this.#due.includes(entry)) continue;
      entry.act();
      await settle();
    }
    this.#due = [];
  }

  /** Ends all its connections; its code never runs again, but for what is runnable already, which nobody hears. */
  kill(): void {
    this.#state = 'killed';
    this.#due = [];
    for (const cancel of [...this.#timers]) cancel();
    for (const exchange of [...this.#exchanges]) exchange.abort(new Error('the process was killed'));
  }

  /** How far its wall clock is ahead of the true one, in milliseconds. */
  setWallOffset(ms: number): void {
    this.#wallOffset = ms;
  }

  /** What the process holds: timers that have not fired, and requests whose answers were not read to their end. */
  holds(): { readonly timers: number; readonly requests: number } {
    return { timers: this.#timers.size, requests: this.#exchanges.size };
  }

  /** Does it as soon as the process runs. Returns what takes it back. */
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

  /** Settles like `promise`, once the process runs. */
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
    asked.signal.throwIfAborted();
    const exchange = new AbortController();
    const finish = (): void => {
      this.#exchanges.delete(exchange);
      asked.signal.removeEventListener('abort', abort);
    };
    let giveUp: (reason: unknown) => void = () => undefined;
    const abort = (): void => {
      finish();
      exchange.abort(asked.signal.reason);
      giveUp(asked.signal.reason);
    };
    asked.signal.addEventListener('abort', abort, { once: true });
    this.#exchanges.add(exchange);
    const answer = kube.request({ ...asked, signal: exchange.signal });
    // It is over when it fails, whether or not the process has heard of that.
    answer.catch(finish);
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    const response = await Promise.race([this.#heard(answer), givenUp]);
    return { ...response, body: followBody(response.body, finish, (chunk) => this.#heard(chunk)) };
  }
}
