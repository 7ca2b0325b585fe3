import type { ProberStatus, ShootStatus } from '../../status/state/schema.ts';
import type { ShootState } from '../../status/state/states.ts';

/** Faults of the demo and their repairs. */
export type FaultKind = 'cut kubelets' | 'connect kubelets' | 'break etcd' | 'mend etcd';

/** Current faults of a shoot in the demo. */
export interface FaultsOfShoot {
  readonly namespace: string;
  readonly kubelets: 'cut' | 'connected';
  readonly etcd: 'down' | 'up';
}

/** A point of the timeline; `at` is in milliseconds since the epoch. */
export interface PageSample {
  readonly at: number;
  /** Number of shoots by state; absent: 0. */
  readonly counts: Readonly<Partial<Record<ShootState, number>>>;
  /** Time that scale-downs left of KCM's grace period, of the held shoot with the least. Absent: none is held. */
  readonly margin?: { readonly ms: number; readonly graceMs: number };
}

/** What the page asks for again and again (`/view?shoot=`). */
export interface PageView {
  readonly status: ProberStatus;
  /** The shoot that was asked for, with its details; absent without one. */
  readonly shoot?: ShootStatus;
  /** Samples of the last hour. */
  readonly samples: readonly PageSample[];
  /** Namespace of the replicas; absent without leader election. */
  readonly namespace?: string;
  /** Present only in the demo. */
  readonly faults?: readonly FaultsOfShoot[];
}

export const sampleOf = ({ shoots }: ProberStatus, at: number): PageSample => {
  const counts: Partial<Record<ShootState, number>> = {};
  for (const { state } of shoots) counts[state] = (counts[state] ?? 0) + 1;
  const margins = shoots.flatMap(({ held, marginMs: ms, graceMs }) =>
    ms === undefined || held.length === 0 ? [] : [{ ms, graceMs }],
  );
  return { at, counts, margin: margins.toSorted((a, b) => a.ms / a.graceMs - b.ms / b.graceMs)[0] };
};
