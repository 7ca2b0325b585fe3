import { WaitQueue } from '../transport/index.ts';

/** The part of a budget that one body uses. */
export interface BodyShare {
  /**
   * Sets the share to `bytes`, more or less than before, and returns undefined. Returns a promise if too little is free: it resolves once the share
   * is `bytes`, and rejects with the signal's reason.
   */
  readonly resize: (bytes: number, signal: AbortSignal) => Promise<void> | undefined;
  readonly release: () => void;
}

/**
 * Limits the memory of bodies that arrive at the same time; first come, first served. One body may hold far less than `limitBytes` (see `BodyReader.held`), so
 * only many can fill it. Slow bodies, and bodies that wait while they hold memory, can keep it full: a caller that waits needs a deadline.
 */
export class BodyBudget {
  readonly limitBytes: number;
  #taken = 0;
  /** Waiting bodies, each with the bytes that it waits for. */
  readonly #line = new WaitQueue<number>(() => this.#wake());

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Returns the used bytes, for tests and measurements. */
  taken(): number {
    return this.#taken;
  }

  open(): BodyShare {
    let own = 0;
    return {
      resize: (bytes, signal) => {
        const more = bytes - own;
        const take = (): void => {
          own = bytes;
        };
        if (more > 0 && (this.#line.length > 0 || !this.#fits(more))) return this.#line.join(signal, more).then(take);
        take();
        this.#add(more);
        return undefined;
      },
      release: () => {
        this.#add(-own);
        own = 0;
      },
    };
  }

  #fits(bytes: number): boolean {
    return this.#taken + bytes <= this.limitBytes;
  }

  #add(bytes: number): void {
    this.#taken += bytes;
    this.#wake();
  }

  /** Admits the first waiting body if there is room; its leaving the line wakes the next one. */
  #wake(): void {
    const { first } = this.#line;
    if (first === undefined || !this.#fits(first)) return;
    this.#taken += first;
    this.#line.wakeOne();
  }
}
