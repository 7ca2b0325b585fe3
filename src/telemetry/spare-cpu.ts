import type { Clock } from '../ports/clock.ts';

/** While so many turns of the event loop together take so long, in milliseconds, the process has not got the CPU that it wants. */
const turns = 4;
const busyMs = 25;
/** What is not urgent then rests for so long, in milliseconds. */
const restMs = 2_000;

/** Whether there is CPU to spare, by how fast the event loop turns. By a virtual clock there is. */
export class SpareCpu {
  readonly #clock: Clock;
  #isMeasuring = false;
  #cancel: (() => void) | undefined;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until what is not urgent may go on; 0: now. */
  restMs(): number {
    return Math.max(0, this.#restsUntil - this.#clock.monotonic());
  }

  /** Measures the turns that follow. */
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

  /** Ends a measurement. */
  stop(): void {
    this.#cancel?.();
  }

  #end(began: number): void {
    this.#isMeasuring = false;
    const now = this.#clock.monotonic();
    if (now - began >= busyMs) this.#restsUntil = now + restMs;
  }
}
