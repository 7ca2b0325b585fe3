import type { Clock } from '../../ports/clock.ts';
import { type Emit, type EventOf, observer } from './events.ts';

/** A scale-down must follow the threshold within this time, in milliseconds. KCM's default grace period leaves ten seconds in all. */
const timelyMs = 5_000;

export interface LateProtectionDeps {
  readonly clock: Clock;
  /** True while a resource of the cluster is up that a scale-down would scale down, none is held, and no pause prevents it. */
  readonly isUnprotected: (cluster: string) => boolean;
  readonly emit: Emit;
}

/** Returns the observer that tells, once per outage, that no scale-down followed the verdict in time. A scale-down by any replica counts. */
export const watchLateProtection = ({ clock, isUnprotected, emit }: LateProtectionDeps): Emit => {
  /** Functions that cancel the timers of current outages, by cluster. */
  const outages = new Map<string, () => void>();
  /** Clusters whose scale-down was last prevented on purpose. */
  const skipped = new Set<string>();
  const forget = (cluster: string): void => {
    outages.get(cluster)?.();
    outages.delete(cluster);
    skipped.delete(cluster);
  };
  const watch = (cluster: string, since: number): (() => void) =>
    clock.timer(since + timelyMs - clock.monotonic(), () => {
      const seconds = Math.round((clock.monotonic() - since) / 100) / 10;
      if (isUnprotected(cluster)) emit({ kind: 'protection-late', cluster, seconds });
    });
  const judged = ({ cluster, result }: EventOf<'run-ended'>): void => {
    const { verdict, hasObservedRenewals } = result.decision;
    // A failed run shows nothing about the outage.
    if (verdict.kind === 'failed') return;
    if (verdict.kind !== 'unhealthy') {
      const wasSkipped = skipped.has(cluster);
      forget(cluster);
      if (verdict.kind === 'skipped' || (verdict.kind === 'confirming' && wasSkipped)) skipped.add(cluster);
    } else if (!outages.has(cluster)) {
      // The time starts with the verdict if this process did not watch the shoot when the threshold was crossed, or if the scale-down was prevented until now.
      const countsFromThreshold = hasObservedRenewals === true && !skipped.has(cluster);
      outages.set(cluster, watch(cluster, countsFromThreshold ? verdict.crossedAt : clock.monotonic()));
    }
  };
  return observer({
    'run-ended': judged,
    forgotten: ({ cluster }) => forget(cluster),
    ended: () => {
      for (const cluster of [...outages.keys()]) forget(cluster);
    },
  });
};
