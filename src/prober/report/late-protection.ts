import type { Clock } from '../../ports/clock.ts';
import { type Emit, type EventOf, observer } from './events.ts';

/** A scale-down must begin within this time after the threshold, in milliseconds. KCM's default grace period leaves ten seconds in all. */
const timelyMs = 5_000;

export interface LateProtectionDeps {
  readonly clock: Clock;
  /** True if a resource of the cluster is held, by any replica. */
  readonly isAnyHeld: (cluster: string) => boolean;
  readonly emit: Emit;
}

/** Returns the observer that tells, once per outage, that it is unmet for five seconds and nothing is held. */
export const watchLateProtection = ({ clock, isAnyHeld, emit }: LateProtectionDeps): Emit => {
  /** Clusters whose outage is unmet: since when, and a function that cancels the timer. */
  const unmet = new Map<string, { readonly since: number; readonly cancel: () => void }>();
  const forget = (cluster: string): void => {
    unmet.get(cluster)?.cancel();
    unmet.delete(cluster);
  };
  const watch = (cluster: string, since: number): (() => void) =>
    clock.timer(since + timelyMs - clock.monotonic(), () => {
      const seconds = Math.round((clock.monotonic() - since) / 100) / 10;
      if (!isAnyHeld(cluster)) emit({ kind: 'protection-late', cluster, seconds });
    });
  const stepped = ({ cluster, state: { unmetSince: since } }: EventOf<'stepped'>): void => {
    if (since === unmet.get(cluster)?.since) return;
    forget(cluster);
    if (since !== undefined) unmet.set(cluster, { since, cancel: watch(cluster, since) });
  };
  return observer({
    stepped,
    forgotten: ({ cluster }) => forget(cluster),
    ended: () => {
      for (const cluster of [...unmet.keys()]) forget(cluster);
    },
  });
};
