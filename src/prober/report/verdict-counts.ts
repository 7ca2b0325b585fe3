import type { VerdictName } from '../judge/verdict.ts';
import type { ProberMetrics } from '../metrics.ts';

/** Counts the shoots by their latest verdict, in a gauge. */
export class VerdictCounts {
  readonly #gauge: ProberMetrics['shoots'];
  readonly #verdicts = new Map<string, VerdictName>();
  readonly #counts = new Map<VerdictName, number>();

  constructor({ shoots }: Pick<ProberMetrics, 'shoots'>) {
    this.#gauge = shoots;
  }

  judged(namespace: string, verdict: VerdictName): void {
    if (this.#verdicts.get(namespace) === verdict) return;
    this.forget(namespace);
    this.#verdicts.set(namespace, verdict);
    this.#add(verdict, 1);
  }

  forget(namespace: string): void {
    const verdict = this.#verdicts.get(namespace);
    if (verdict === undefined) return;
    this.#verdicts.delete(namespace);
    this.#add(verdict, -1);
  }

  #add(verdict: VerdictName, by: number): void {
    const count = (this.#counts.get(verdict) ?? 0) + by;
    this.#counts.set(verdict, count);
    this.#gauge.set(count, { verdict });
  }
}
