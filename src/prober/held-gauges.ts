import type { Clock } from '../ports/clock.ts';
import type { ProberMetrics } from './metrics.ts';

/** The gauges of what is held of each shoot. */
export class HeldGauges {
  readonly #clock: Clock;
  readonly #metrics: ProberMetrics;
  /** When this process first saw something held, in milliseconds since the epoch. */
  readonly #seenAt = new Map<string, number>();

  constructor(clock: Clock, metrics: ProberMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** `since`: by what the resources say of themselves, in milliseconds since the epoch; what the Go program holds says nothing. */
  show(namespace: string, { held, since }: { readonly held: number; readonly since: number | undefined }): void {
    const { held: count, heldSince } = this.#metrics;
    count.set(held, { namespace });
    if (held === 0) {
      this.#seenAt.delete(namespace);
      heldSince.remove({ namespace });
      return;
    }
    const seenAt = this.#seenAt.get(namespace) ?? this.#clock.now();
    this.#seenAt.set(namespace, seenAt);
    heldSince.set(Math.round(since ?? seenAt) / 1_000, { namespace });
  }

  forget(namespace: string): void {
    this.#seenAt.delete(namespace);
  }
}
