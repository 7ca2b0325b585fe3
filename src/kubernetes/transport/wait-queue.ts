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

  /** Waits at the end of the queue. Resolves when it is woken; on abort leaves the queue and rejects with the signal's reason. */
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

  /** Wakes the first caller, if there is one. */
  wakeOne(): void {
    const [first] = this.#waiters;
    first?.go();
  }

  /** Wakes all waiting callers. */
  wakeAll(): void {
    for (const waiter of [...this.#waiters]) waiter.go();
  }
}
