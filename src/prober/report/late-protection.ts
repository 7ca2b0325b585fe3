import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Decision } from '../judge/decision.ts';
import type { ProberMetrics } from '../metrics.ts';

/** A scale-down must follow the threshold within this time, in milliseconds. KCM's default grace period leaves ten seconds in all. */
const timelyMs = 5_000;

export interface LateProtectionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<ProberMetrics, 'late'>;
}

export interface JudgedShoot {
  readonly decision: Pick<Decision, 'verdict' | 'hasObservedRenewals'>;
  /** True while a resource is up that a scale-down would scale down, and none is held. */
  readonly isUnprotected: () => boolean;
}

/** Reports, once per outage, that no scale-down followed the verdict in time. A scale-down by any replica counts. */
export class LateProtectionReporter {
  readonly #deps: LateProtectionDeps;
  /** Functions that cancel the timers of current outages, by namespace. */
  readonly #outages = new Map<string, () => void>();
  /** Namespaces of shoots whose scale-down was last prevented on purpose, such as by a veto of the external probe. */
  readonly #skipped = new Set<string>();

  constructor(deps: LateProtectionDeps) {
    this.#deps = deps;
  }

  judged(namespace: string, { decision: { verdict, hasObservedRenewals }, isUnprotected }: JudgedShoot): void {
    // A failed run shows nothing about the outage.
    if (verdict.kind === 'failed') return;
    if (verdict.kind !== 'unhealthy') {
      const wasSkipped = this.#skipped.has(namespace);
      this.forget(namespace);
      if (verdict.kind === 'skipped' || (verdict.kind === 'confirming' && wasSkipped)) this.#skipped.add(namespace);
    } else if (!this.#outages.has(namespace)) {
      // The time starts with the verdict if this process did not watch the shoot when the threshold was crossed, or if the scale-down was prevented until now.
      const countsFromThreshold = hasObservedRenewals === true && !this.#skipped.has(namespace);
      const since = countsFromThreshold ? verdict.crossedAt : this.#deps.clock.monotonic();
      this.#outages.set(namespace, this.#watch(namespace, since, isUnprotected));
    }
  }

  forget(namespace: string): void {
    this.#outages.get(namespace)?.();
    this.#outages.delete(namespace);
    this.#skipped.delete(namespace);
  }

  stop(): void {
    for (const namespace of [...this.#outages.keys()]) this.forget(namespace);
  }

  #watch(namespace: string, since: number, isUnprotected: () => boolean): () => void {
    const { clock, logger, metrics } = this.#deps;
    return clock.timer(since + timelyMs - clock.monotonic(), () => {
      if (!isUnprotected()) return;
      metrics.late.set(clock.now() / 1_000, { namespace });
      const seconds = Math.round((clock.monotonic() - since) / 100) / 10;
      logger.error('the threshold is crossed, and nothing is scaled down', { namespace, seconds });
    });
  }
}
