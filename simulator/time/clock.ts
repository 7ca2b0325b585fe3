import type { Clock } from '../../src/ports/clock.ts';
import { sleepBy } from './sleep.ts';
import { type Timer, TimerHeap } from './timer-heap.ts';

export interface VirtualClockOptions {
  /** Wall clock at the start, milliseconds since the epoch. Default: 2026-01-01T00:00:00Z. */
  readonly startWall?: number;
  /**
   * Turns of the event loop that are let pass before each timer, so that every runnable task has run. One is enough for promises;
   * the default of 2 also covers code that hops through one `setImmediate`. Work on sockets or threads is never waited for.
   */
  readonly turns?: number;
}

/**
 * A clock that stands still until it is told to move, and moves only when no task is runnable. The same program sees the same
 * order of timers in every run: by deadline, and in order of creation among equal ones.
 */
export interface VirtualClock extends Clock {
  /** Moves on by `ms`, firing what falls due on the way. Rejects with what a timer's callback throws; time then stands at that timer. */
  advance(ms: number): Promise<void>;
  /** Moves on timer by timer: up to the monotonic instant `goal`, or until `goal()` holds (asked whenever nothing is runnable). */
  runUntil(goal: number | (() => boolean)): Promise<void>;
  /** Moves on until `promise` settles, and settles like it. */
  run<T>(promise: Promise<T>): Promise<T>;
  /** Lets everything runnable run, without moving on. */
  settle(): Promise<void>;
  /** Timers waiting, sleeps included. */
  readonly pending: number;
}

const defaultStart = Date.UTC(2026, 0, 1);

/** Calls `then` when all that is runnable has run. Only one wait at a time. */
type Wait = (then: () => void) => void;

/** Most of a turn is the event loop's own work, so that many waits share one. */
const waitsPerTurn = 32;

/** For promises. Node runs all microtasks between two immediates, those of one turn too (`processImmediate` of its `lib/internal/timers.js`). */
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

/** Monotonic time that stands still but for one move at a time. */
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

  /** Fires what `next` gives, one after the other, until it gives none; everything runnable runs before each. */
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

/** See VirtualClock. Its monotonic origin is 0. Only one of advance, runUntil, run and settle can be under way at a time. */
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
