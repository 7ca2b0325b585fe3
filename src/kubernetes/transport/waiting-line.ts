import { abortable } from './abortable.ts';

interface Waiter<T> {
  readonly value: T;
  readonly go: () => void;
}

/** Callers that wait for their turn, first come, first served, each with a value that says what it waits for. */
export class WaitingLine<T = void> {
  readonly #waiters = new Set<Waiter<T>>();
  readonly #onChange: (length: number) => void;

  /** `onChange` hears every new length. */
  constructor(onChange: (length: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  get length(): number {
    return this.#waiters.size;
  }

  /** The value of the first caller; undefined when nobody waits. */
  get first(): T | undefined {
    const [first] = this.#waiters;
    return first?.value;
  }

  /** Waits at the end of the line. Resolves when called up; leaves the line and rejects with the signal's reason on abort. */
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

  /** Lets the first caller go, if there is one. */
  callUp(): void {
    const [first] = this.#waiters;
    first?.go();
  }

  /** Lets all go that wait now. */
  callUpAll(): void {
    for (const waiter of [...this.#waiters]) waiter.go();
  }
}
