import { type JudgedLease, recordAndJudgeLeases } from './lease-expiry.ts';
import { type LeaseObservation, distrustTimestamps, isAnyRenewed } from './lease-history.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import type { ProbeInput } from './probe-input.ts';
import type { ProbeMemory } from './probe-memory.ts';

export const confirmAfterMs = 2_000;
/** A kubelet renews every 10 s; after this time without a renewal it has missed one. */
const silentMs = 15_000;
/** A kubelet's default lease duration: `nodeLeaseDurationSeconds` in https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/. */
const defaultDurationMs = 40_000;

export interface ObservedLease extends JudgedLease {
  /** `spec.leaseDurationSeconds`, in milliseconds. The kubelet renews after a quarter of this time. */
  readonly durationMs: number;
  /** Monotonic instant of the last renewal that we know of; at the earliest our first observation of the lease and the end of the last downtime. */
  readonly silentSince: number;
  /** Monotonic instant at which the kubelet becomes silent if it does not renew. */
  readonly silentAt: number;
  readonly silent: boolean;
}

export interface ObservedLeases {
  readonly leases: readonly ObservedLease[];
  readonly memory: ProbeMemory;
}

/** Enters a list of the leases into the memory, which must have passed `endDowntime`, and judges each lease. */
export const observeLeases = (
  { items, observation }: { readonly items: readonly Lease[]; readonly observation: LeaseObservation },
  { memory, settings }: ProbeInput,
): ObservedLeases => {
  const { history, unconfirmedLeases } = memory;
  const isDisproved = isAnyRenewed(history, items, unconfirmedLeases);
  const { expiryAgeMs } = settings;
  const observed = recordAndJudgeLeases(
    isDisproved ? distrustTimestamps(history, { disproved: unconfirmedLeases, expiryAgeMs }) : history,
    items,
    { observation, expiryAgeMs },
  );
  const recorded = { ...memory, history: observed.history };
  const leases = observed.judged.map((lease, index) => {
    const { durationSeconds } = items[index] ?? {};
    const durationMs = durationSeconds === undefined ? defaultDurationMs : durationSeconds * 1_000;
    return observeSilence({ ...lease, durationMs }, recorded, { observation, expiryAgeMs });
  });
  const renewedSince = sinceRenewal(memory, leases);
  const { renewedSince: _, failedRuns: __, ...rest } = recorded;
  const next = { ...rest, unconfirmedLeases: new Set<string>() };
  return { leases, memory: renewedSince === undefined ? next : { ...next, renewedSince } };
};

/** Returns the new `renewedSince`: a lease that changed between two observations was renewed after the first, even if clocks are wrong. */
const sinceRenewal = ({ history, renewedSince }: ProbeMemory, leases: readonly ObservedLease[]): number | undefined => {
  if (leases.every(({ silent }) => silent)) return undefined;
  return leases.some(({ renewed }) => renewed) ? history.lastObservedAt : renewedSince;
};

/**
 * Judges silence like expiry, but never by a timestamp alone: a lease never seen renewed counts from our first observation of it, a lease whose
 * change has just been observed needs a second observation, and downtime of the API server does not count as silence.
 */
const observeSilence = (
  lease: JudgedLease & Pick<ObservedLease, 'durationMs'>,
  { history, downUntil = Number.NEGATIVE_INFINITY }: ProbeMemory,
  { observation, expiryAgeMs }: { readonly observation: LeaseObservation; readonly expiryAgeMs: number },
): ObservedLease => {
  const { name, expiresAt, renewed } = lease;
  const seenSince = history.neverSeenRenewed.get(name) ?? Number.NEGATIVE_INFINITY;
  // If clocks differ, the renewal may have happened anywhere between the two observations.
  const observedSince = renewed && observation.skewMs !== undefined ? observation.endedAt : seenSince;
  const silentSince = Math.max(expiresAt - expiryAgeMs, seenSince, observedSince);
  const confirmedAt = renewed ? observation.endedAt + confirmAfterMs : Number.NEGATIVE_INFINITY;
  const silentAt = Math.max(silentSince + silentMs, downUntil + silentMs, confirmedAt);
  return { ...lease, silentSince, silentAt, silent: observation.startedAt >= silentAt };
};
