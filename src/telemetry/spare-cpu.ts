import type { Clock } from '../ports/clock.ts';

/** The process is short of CPU if this many turns of the event loop take `busyMs` milliseconds or more. */
const turns = 4;
const busyMs = 25;
/** Pause of work that is not urgent if the process is short of CPU, in milliseconds. */
const restMs = 2_000;

/** Detects from the speed of the event loop that the process is short of CPU. On a virtual clock, where turns take no time, it never is. */
export class SpareCpu {
  readonly #clock: Clock;
  #isMeasuring = false;
  #cancel: (() => void) | undefined;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the milliseconds until work that is not urgent may continue; 0 if it may now. */
  restMs(): number {
    return Math.max(0, this.#restsUntil - this.#clock.monotonic());
  }

  /** Measures the next turns. */
  measure(): void {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    const began = this.#clock.monotonic();
    const turn = (left: number): void => {
      if (left > 0) this.#cancel = this.#clock.timer(0, () => turn(left - 1));
      else this.#end(began);
    };
    turn(turns);
  }

  /** Cancels a measurement. */
  stop(): void {
    this.#cancel?.();
  }

  #end(began: number): void {
    this.#isMeasuring = false;
    const now = this.#clock.monotonic();
    if (now - began >= busyMs) this.#restsUntil = now + restMs;
  }
}
