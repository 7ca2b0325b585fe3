import type { Clock } from '../../ports/clock.ts';
import type { ProberMetrics } from '../metrics.ts';

/** The gauges of the held resources of each shoot. */
export class HeldGauges {
  readonly #clock: Clock;
  readonly #metrics: ProberMetrics;
  /** Times at which this process first saw a held resource, in milliseconds since the epoch, by namespace. */
  readonly #seenAt = new Map<string, number>();

  constructor(clock: Clock, metrics: ProberMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Sets the gauges. `since` comes from the notes on the resources, in milliseconds since the epoch; resources that the Go program holds have none. */
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
