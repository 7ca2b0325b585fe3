import { abortable } from './abortable.ts';

interface Waiter<T> {
  readonly value: T;
  readonly go: () => void;
}

/** A queue of waiting callers, first come, first served, each with a value that describes what it waits for. */
export class WaitQueue<T = void> {
  readonly #waiters = new Set<Waiter<T>>();
  readonly #onChange: (length: number) => void;

  /** `onChange` is called with every new length. */
  constructor(onChange: (length: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  get length(): number {
    return this.#waiters.size;
  }

  /** The value of the first caller; undefined if no caller waits. */
  get first(): T | undefined {
    const [first] = this.#waiters;
    return first?.value;
  }

  /** Waits at the end of the line. Resolves when it is called up; on abort leaves the line and rejects with the signal's reason. */
  join(signal: AbortSignal, value: T): Promise<void> {
    return abortable(signal, (resolve) => {
      const waiter = { value, go: () => resolve() };
      this.#waiters.add(waiter);
      this.#onChange(this.#waiters.size);
      return () => {
        this.#waiters.delete(waiter);
        this.#onChange(this.#waiters.size);
      };
    });
  }

  /** Releases the first caller, if there is one. */
  callUp(): void {
    const [first] = this.#waiters;
    first?.go();
  }

  /** Releases all waiting callers. */
  callUpAll(): void {
    for (const waiter of [...this.#waiters]) waiter.go();
  }
}
