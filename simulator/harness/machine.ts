import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** The machine of one process: its wall clock may be wrong, and the process can be suspended (SIGSTOP) or killed (SIGKILL). */
export interface Machine {
  readonly clock: Clock;
  /** What the process sends through it and what it hears, streams included. */
  connect(kube: Kube): Kube;
  /** As a signal: handled as soon as the process runs. */
  deliver(handle: () => void): void;
  /** No timer fires and no answer is heard until it is resumed; requests that were sent are served all the same. */
  suspend(): void;
  /** Everything that came due meanwhile happens now, in that order, and `settle` in between. */
  resume(settle: () => Promise<void>): Promise<void>;
  /** Ends all its connections; its code never runs again, but for what is runnable already, which nobody hears. */
  kill(): void;
  /** How far its wall clock is ahead of the true one, in milliseconds. */
  setWallOffset(ms: number): void;
  /** What the process holds: timers that have not fired, and requests whose answers were not read to their end. */
  holds(): { readonly timers: number; readonly requests: number };
}

interface Due {
  readonly act: () => void;
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Runs at true time; `clock` is the true one. */
export const createMachine = (clock: Clock): Machine => {
  const timers = new Set<() => void>();
  const exchanges = new Set<AbortController>();
  let state: 'running' | 'suspended' | 'killed' = 'running';
  let wallOffset = 0;
  let due: Due[] = [];

  /** Does it as soon as the process runs. Returns what takes it back. */
  const whenAwake = (act: () => void): (() => void) => {
    if (state === 'running') act();
    if (state !== 'suspended') return () => undefined;
    const entry: Due = { act };
    due.push(entry);
    return () => {
      due = due.filter((other) => other !== entry);
    };
  };

  const timer: Clock['timer'] = (ms, callback) => {
    if (state === 'killed') return () => undefined;
    let takeBack = (): void => undefined;
    const cancelTimer = clock.timer(ms, () => {
      takeBack = whenAwake(() => {
        timers.delete(cancel);
        callback();
      });
    });
    const cancel = (): void => {
      timers.delete(cancel);
      cancelTimer();
      takeBack();
    };
    timers.add(cancel);
    return cancel;
  };

  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      if (ms <= 0) {
        resolve();
        return;
      }
      const abort = (): void => {
        cancel();
        reject(signal.reason);
      };
      const cancel = timer(ms, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort, { once: true });
    });

  /** Settles like `promise`, once the process runs. */
  const heard = <T>(promise: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      promise.then(
        (value) => whenAwake(() => resolve(value)),
        (error: unknown) => whenAwake(() => reject(error)),
      );
    });

  const hear = (body: KubeResponse['body'], finish: () => void): KubeResponse['body'] => {
    const chunks = body[Symbol.asyncIterator]();
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      try {
        const chunk = await heard(chunks.next());
        if (chunk.done === true) finish();
        return chunk;
      } catch (error) {
        finish();
        throw error;
      }
    };
    const abandon = async (): Promise<IteratorResult<Uint8Array>> => {
      finish();
      return (await chunks.return?.()) ?? { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: abandon }) };
  };

  const request = async (kube: Kube, asked: KubeRequest): Promise<KubeResponse> => {
    if (state === 'killed') return never();
    asked.signal.throwIfAborted();
    const exchange = new AbortController();
    const finish = (): void => {
      exchanges.delete(exchange);
      asked.signal.removeEventListener('abort', abort);
    };
    let giveUp: (reason: unknown) => void = () => undefined;
    const abort = (): void => {
      finish();
      exchange.abort(asked.signal.reason);
      giveUp(asked.signal.reason);
    };
    asked.signal.addEventListener('abort', abort, { once: true });
    exchanges.add(exchange);
    const answer = kube.request({ ...asked, signal: exchange.signal });
    // It is over when it fails, whether or not the process has heard of that.
    answer.catch(finish);
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    const response = await Promise.race([heard(answer), givenUp]);
    return { ...response, body: hear(response.body, finish) };
  };

  return {
    clock: { now: () => clock.now() + wallOffset, monotonic: () => clock.monotonic(), timer, sleep },
    connect: (kube) => ({ request: (asked) => request(kube, asked) }),
    deliver: (handle) => void whenAwake(handle),
    suspend: () => {
      if (state === 'running') state = 'suspended';
    },
    resume: async (settle) => {
      if (state !== 'suspended') return;
      state = 'running';
      const entries = due;
      for (const entry of entries) {
        if (!due.includes(entry)) continue;
        entry.act();
        await settle();
      }
      due = [];
    },
    kill: () => {
      state = 'killed';
      due = [];
      for (const cancel of [...timers]) cancel();
      for (const exchange of [...exchanges]) exchange.abort(new Error('the process was killed'));
    },
    setWallOffset: (ms) => {
      wallOffset = ms;
    },
    holds: () => ({ timers: timers.size, requests: exchanges.size }),
  };
};
