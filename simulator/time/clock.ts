import type { Clock } from '../../src/ports/clock.ts';
import { type Timer, createTimerHeap } from './timer-heap.ts';

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
  /** Makes the wall clock jump to `ms` ahead of where it would be without any jump. The monotonic clock does not notice. */
  setWallOffset(ms: number): void;
  /** Timers waiting, sleeps included. */
  readonly pending: number;
  /** Monotonic instant of the next timer, if there is one. */
  readonly next: number | undefined;
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

/** See VirtualClock. Its monotonic origin is 0. Only one of advance, runUntil, run and settle can be under way at a time. */
export const createVirtualClock = (options: VirtualClockOptions = {}): VirtualClock => {
  const { startWall = defaultStart, turns = 2 } = options;
  const timers = createTimerHeap();
  const wait = turns === 1 ? createMicrotaskWait() : createTurnWait(turns);
  let monotonic = 0;
  let wallOffset = 0;
  let moving = false;

  const timer = (ms: number, callback: () => void): (() => void) => {
    if (Number.isNaN(ms)) throw new RangeError('timer: the delay is not a number');
    return timers.add(monotonic + Math.max(0, ms), callback);
  };

  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      if (ms <= 0) {
        resolve();
        return;
      }
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

  const fire = (due: Timer): void => {
    monotonic = Math.max(monotonic, due.deadline);
    due.callback();
  };

  const exclusively = async (move: () => Promise<void>): Promise<void> => {
    if (moving) throw new Error('virtual clock: it is being moved already; await that first');
    moving = true;
    try {
      await move();
    } finally {
      moving = false;
    }
  };

  /** Fires what `next` gives, one after the other, until it gives none; everything runnable runs before each. */
  const move = (next: () => Timer | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          const due = next();
          if (due === undefined) {
            resolve();
            return;
          }
          fire(due);
        } catch (error) {
          reject(error);
          return;
        }
        wait(step);
      };
      wait(step);
    });

  const moveTo = async (instant: number): Promise<void> => {
    await move(() => timers.take(instant));
    monotonic = Math.max(monotonic, instant);
  };

  const moveUntil = (reached: () => boolean): Promise<void> =>
    move(() => {
      if (reached()) return undefined;
      const due = timers.take(Infinity);
      if (due === undefined) throw new Error('virtual clock: no timer is left, so what is awaited can never happen');
      return due;
    });

  return {
    now: () => startWall + wallOffset + monotonic,
    monotonic: () => monotonic,
    sleep,
    timer,
    advance: (ms) => exclusively(() => moveTo(monotonic + ms)),
    runUntil: (goal) => exclusively(() => (typeof goal === 'number' ? moveTo(goal) : moveUntil(goal))),
    async run(promise) {
      let settled = false;
      const settle = (): void => {
        settled = true;
      };
      promise.then(settle, settle);
      await exclusively(() => moveUntil(() => settled));
      return promise;
    },
    settle: () => exclusively(() => new Promise(wait)),
    setWallOffset(ms) {
      wallOffset = ms;
    },
    get pending() {
      return timers.size;
    },
    get next() {
      return timers.next;
    },
  };
};
