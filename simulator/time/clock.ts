import type { Clock } from '../../src/ports/clock.ts';
import { type Timer, TimerHeap } from './timer-heap.ts';

/** Returns the `sleep` of a clock that has this `timer`. */
export const sleepBy =
  (timer: Clock['timer']): Clock['sleep'] =>
  async (ms, signal) => {
    signal.throwIfAborted();
    if (ms <= 0) return;
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = timer(ms, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort, { once: true });
    });
  };

export interface VirtualClockOptions {
  /** Wall clock at the start, milliseconds since the epoch. Default: 2026-01-01T00:00:00Z. */
  readonly startWall?: number;
  /**
   * Number of event-loop turns that pass before each timer fires, so that every runnable task has run. One is enough for promises;
   * the default of 2 also covers code that awaits one `setImmediate`. The clock never waits for work on sockets or threads.
   */
  readonly turns?: number;
}

/**
 * A clock that advances only when one of the methods below is called, and only when no task is runnable. The same program sees the
 * same order of timers in every run: by deadline, and in order of creation among timers of equal deadline.
 */
export interface VirtualClock extends Clock {
  /** Advances by `ms` and fires the timers that become due. Rejects with the error that a timer's callback throws; the clock then stops at that timer. */
  advance(ms: number): Promise<void>;
  /** Advances timer by timer: to the monotonic instant `goal`, or until `goal()` returns true (called whenever no task is runnable). */
  runUntil(goal: number | (() => boolean)): Promise<void>;
  /** Advances until `promise` settles, and settles like it. */
  run<T>(promise: Promise<T>): Promise<T>;
  /** Lets every runnable task run, without advancing. */
  settle(): Promise<void>;
  /** Number of waiting timers, sleeps included. */
  readonly pending: number;
}

const defaultStart = Date.UTC(2026, 0, 1);

/** Calls `then` when every runnable task has run. Only one wait at a time. */
type Wait = (then: () => void) => void;

/** Many waits share one turn of the event loop, because most of a turn is the event loop's own work. */
const waitsPerTurn = 32;

/** Waits for promises. Node runs all microtasks between two immediates, even in one turn (`processImmediate` in `lib/internal/timers.js`). */
const createMicrotaskWait = (): Wait => {
  let ahead = 0;
  let waiting: (() => void) | undefined;
  const wake = (): void => {
    ahead -= 1;
    const then = waiting;
    waiting = undefined;
    then?.();
  };
  return (then) => {
    waiting = then;
    if (ahead > 0) return;
    for (; ahead < waitsPerTurn; ahead += 1) setImmediate(wake);
  };
};

const createTurnWait =
  (turns: number): Wait =>
  (then) => {
    let left = turns;
    const turn = (): void => {
      left -= 1;
      if (left > 0) setImmediate(turn);
      else then();
    };
    setImmediate(turn);
  };

/** Monotonic time that advances only on request, one move at a time. */
class Timeline {
  readonly timers = new TimerHeap();
  readonly #wait: Wait;
  #instant = 0;
  #isMoving = false;

  constructor(wait: Wait) {
    this.#wait = wait;
  }

  get instant(): number {
    return this.#instant;
  }

  moveTo(instant: number): Promise<void> {
    return this.#exclusively(async () => {
      await this.#move(() => this.timers.take(instant));
      this.#instant = Math.max(this.#instant, instant);
    });
  }

  moveUntil(reached: () => boolean): Promise<void> {
    return this.#exclusively(() =>
      this.#move(() => {
        if (reached()) return undefined;
        const due = this.timers.take(Infinity);
        if (due === undefined) throw new Error('virtual clock: no timer is left, so what is awaited can never happen');
        return due;
      }),
    );
  }

  settle(): Promise<void> {
    return this.#exclusively(() => new Promise(this.#wait));
  }

  async #exclusively(move: () => Promise<void>): Promise<void> {
    if (this.#isMoving) throw new Error('virtual clock: it is being moved already; await that first');
    this.#isMoving = true;
    try {
      await move();
    } finally {
      this.#isMoving = false;
    }
  }

  /** Fires the timers that `next` returns, one by one, until it returns none. Every runnable task runs before each timer. */
  #move(next: () => Timer | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          const due = next();
          if (due === undefined) {
            resolve();
            return;
          }
          this.#instant = Math.max(this.#instant, due.deadline);
          due.callback();
        } catch (error) {
          reject(error);
          return;
        }
        this.#wait(step);
      };
      this.#wait(step);
    });
  }
}

/** Creates a VirtualClock whose monotonic origin is 0. Only one of advance, runUntil, run and settle can be under way at a time. */
export const createVirtualClock = (options: VirtualClockOptions = {}): VirtualClock => {
  const { startWall = defaultStart, turns = 2 } = options;
  const time = new Timeline(turns === 1 ? createMicrotaskWait() : createTurnWait(turns));

  const timer = (ms: number, callback: () => void): (() => void) => {
    if (Number.isNaN(ms)) throw new RangeError('timer: the delay is not a number');
    return time.timers.add(time.instant + Math.max(0, ms), callback);
  };

  return {
    now: () => startWall + time.instant,
    monotonic: () => time.instant,
    sleep: sleepBy(timer),
    timer,
    advance: (ms) => time.moveTo(time.instant + ms),
    runUntil: (goal) => (typeof goal === 'number' ? time.moveTo(goal) : time.moveUntil(goal)),
    async run(promise) {
      let settled = false;
      const settle = (): void => {
        settled = true;
      };
      promise.then(settle, settle);
      await time.moveUntil(() => settled);
      return promise;
    },
    settle: () => time.settle(),
    get pending() {
      return time.timers.size;
    },
  };
};
