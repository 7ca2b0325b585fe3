import type { Lease } from '../../kubernetes/api/lease.ts';
import {
  type LeaseHistory,
  type LeaseObservation,
  type RecordedLease,
  ageCountsFrom,
  recordLeases,
} from './lease-history.ts';

// Judges if a lease is expired, by the history of its renewals.

export interface JudgedLease extends RecordedLease {
  /** Monotonic instant at which the lease expires (or expired) if it is not renewed. */
  readonly expiresAt: number;
  readonly expired: boolean;
}

/** Enters an observation into the history and judges every lease: it expires `expiryAgeMs` after its last renewal. */
export const recordAndJudgeLeases = (
  history: LeaseHistory,
  leases: readonly Lease[],
  { observation, expiryAgeMs }: { readonly observation: LeaseObservation; readonly expiryAgeMs: number },
): { readonly history: LeaseHistory; readonly judged: readonly JudgedLease[] } => {
  const { history: next, recorded } = recordLeases(history, leases, observation);
  const judged = recorded.map((lease): JudgedLease => {
    const expiresAt = ageCountsFrom(next, lease.renewedAt) + expiryAgeMs;
    return { ...lease, expiresAt, expired: observation.startedAt >= expiresAt };
  });
  return { history: next, judged };
};
