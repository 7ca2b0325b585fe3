import { WaitingLine } from '../transport/index.ts';

/** The part of a budget that one body takes. */
export interface BodyShare {
  /**
   * Undefined: the body holds `bytes` from now on; less than before is given back. A promise: others hold too much, and it resolves when the body may. Rejects with
   * the signal's reason.
   */
  readonly resize: (bytes: number, signal: AbortSignal) => Promise<void> | undefined;
  readonly release: () => void;
}

/**
 * Memory for the bodies that come in at the same time; first come, first served. One body may hold far less than `limitBytes` (see `BodyReader.held`), so that it
 * takes many to fill it. Bodies that trickle, and bodies that wait while they hold something, can keep it full: a caller that waits needs a deadline.
 */
export class BodyBudget {
  readonly limitBytes: number;
  #taken = 0;
  /** By the bytes that each waits for. */
  readonly #line = new WaitingLine<number>(() => this.#wake());

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Bytes that are taken, for tests and figures. */
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

  /** Lets those go for which there is room, in their order. */
  #wake(): void {
    const { first } = this.#line;
    if (first === undefined || !this.#fits(first)) return;
    this.#taken += first;
    this.#line.callUp();
  }
}
