import type { ElectionLease } from '../api/lease.ts';

/**
 * Times of an election in milliseconds; client-go's defaults are 15 s, 10 s and 2 s. The flags take only lease duration > renew deadline > 1.2 * retry
 * period > 0, as client-go's NewLeaderElector requires. The difference of the first two is the time in which a write in flight must end before another
 * may lead.
 */
export interface ElectionTimes {
  /** Time for which a Lease must stay unchanged before others may take it. */
  readonly leaseDurationMs: number;
  /** Time after its last renewal during which the leader may write. */
  readonly renewDeadlineMs: number;
  /** Time between two attempts. */
  readonly retryPeriodMs: number;
}

/** A standby adds up to this many retry periods to its wait (client-go `tools/leaderelection`, JitterFactor). */
export const electionJitterFactor = 1.2;

/** A candidate's memory of the Lease. Times are monotonic milliseconds of its own clock; the Lease's timestamps are ignored. */
export interface ElectionMemory {
  /** The Lease as it was last seen; absent if there was none. */
  readonly lease?: ElectionLease;
  /** Time at which its present record was first seen. */
  readonly seenAt: number;
  /** True if the Lease may be as remembered. False if the server has another state: then it must be read before a write. */
  readonly current: boolean;
  /** Time at which we sent the latest confirmed write that made us the holder; absent if we do not hold the Lease. */
  readonly renewedAt?: number;
  /** A Lease that was deleted while another held it is not free before this time. */
  readonly reservedUntil: number;
}

export const emptyElectionMemory: ElectionMemory = {
  seenAt: Number.NEGATIVE_INFINITY,
  current: false,
  reservedUntil: Number.NEGATIVE_INFINITY,
};

export interface Candidate {
  /** Unique name of this process, such as the host name and a random part: a process with the holder's name treats the Lease as its own. */
  readonly identity: string;
  /** Default for a Lease without a duration. */
  readonly leaseDurationMs: number;
}

export type ElectionState =
  /** The Lease must be read. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  /** Another candidate holds the Lease; it may be taken at `until` if it does not change. */
  | { readonly kind: 'held'; readonly holder: string; readonly until: number }
  | { readonly kind: 'free'; readonly lease: ElectionLease }
  /** We are the holder by name, which does not mean that we lead (see `leadsUntil`). */
  | { readonly kind: 'ours'; readonly lease: ElectionLease };

const expiryOf = (
  { seenAt }: ElectionMemory,
  { durationSeconds = 0 }: ElectionLease,
  { leaseDurationMs }: Candidate,
): number => seenAt + (durationSeconds > 0 ? durationSeconds * 1_000 : leaseDurationMs);

/** Returns the state of the Lease for this candidate at `now`. */
export const electionState = (memory: ElectionMemory, candidate: Candidate, now: number): ElectionState => {
  const { lease, reservedUntil } = memory;
  if (!memory.current) return { kind: 'unknown' };
  if (lease === undefined) {
    return now < reservedUntil ? { kind: 'held', holder: '', until: reservedUntil } : { kind: 'absent' };
  }
  if (lease.holder === candidate.identity) return { kind: 'ours', lease };
  if (lease.holder === '') return { kind: 'free', lease };
  const until = expiryOf(memory, lease, candidate);
  return now < until ? { kind: 'held', holder: lease.holder, until } : { kind: 'free', lease };
};

/** Returns the time until which we may write, because no other candidate can hold the Lease before; -Infinity if we do not lead. */
export const leadsUntil = (memory: ElectionMemory, renewDeadlineMs: number): number =>
  memory.renewedAt === undefined ? Number.NEGATIVE_INFINITY : memory.renewedAt + renewDeadlineMs;

const isSameRecord = (a: ElectionLease | undefined, b: ElectionLease): boolean =>
  a?.uid === b.uid &&
  a.holder === b.holder &&
  a.durationSeconds === b.durationSeconds &&
  a.transitions === b.transitions &&
  a.acquireTime === b.acquireTime &&
  a.renewTime === b.renewTime;

const withoutRenewal = ({ renewedAt: _, ...rest }: ElectionMemory): ElectionMemory => rest;

/** Returns the memory after a read whose response arrived at `at`. */
export const sawElectionLease = (
  memory: ElectionMemory,
  lease: ElectionLease,
  { candidate, at }: { readonly candidate: Candidate; readonly at: number },
): ElectionMemory => {
  const seenAt = isSameRecord(memory.lease, lease) ? memory.seenAt : at;
  const kept = lease.holder === candidate.identity ? memory : withoutRenewal(memory);
  return { ...kept, lease, seenAt, current: true, reservedUntil: Number.NEGATIVE_INFINITY };
};

/**
 * Returns the memory after a read that found no Lease. Another holder may not know yet and still write, so we wait until its lease duration is over. If we held
 * it, another replica may create it at any moment.
 */
export const missedElectionLease = (memory: ElectionMemory, candidate: Candidate): ElectionMemory => {
  const { lease, ...rest } = withoutRenewal(memory);
  const isOthers = lease !== undefined && lease.holder !== '' && lease.holder !== candidate.identity;
  const reservedUntil = isOthers ? expiryOf(memory, lease, candidate) : memory.reservedUntil;
  return { ...rest, current: true, reservedUntil };
};

/** Returns the memory after a write that was sent at `sentAt` and returned `lease` at `at`. Our time runs from the sending: others may count from then. */
export const wroteElectionLease = (
  memory: ElectionMemory,
  lease: ElectionLease,
  { candidate, sentAt, at }: { readonly candidate: Candidate; readonly sentAt: number; readonly at: number },
): ElectionMemory => {
  const seen = sawElectionLease(memory, lease, { candidate, at });
  return lease.holder === candidate.identity ? { ...seen, renewedAt: sentAt } : seen;
};

/** Returns the memory after a refusal, which shows that the server's Lease differs from ours. */
export const doubtElectionLease = (memory: ElectionMemory): ElectionMemory => ({ ...memory, current: false });
