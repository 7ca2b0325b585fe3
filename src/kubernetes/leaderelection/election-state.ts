import type { ElectionLease } from '../api/lease.ts';

/** In milliseconds; client-go's defaults are 15 s, 10 s and 2 s. */
export interface ElectionTimes {
  /** How long a Lease must stay as it is before others may take it. */
  readonly leaseDurationMs: number;
  /** How long after its last renewal the leader may write. */
  readonly renewDeadlineMs: number;
  /** Between two tries. */
  readonly retryPeriodMs: number;
}

export interface ElectionProblem {
  readonly field: keyof ElectionTimes;
  readonly problem: string;
}

/** Waits of those who do not lead are up to this much longer than the retry period (client-go `tools/leaderelection`, JitterFactor). */
export const electionJitterFactor = 1.2;

/**
 * The problems of the times, none when they can be used: lease duration > renew deadline > 1.2 * retry period > 0, as client-go's
 * NewLeaderElector demands. What lies between the first two is the time that a write under way has to end before another may lead.
 */
export const checkElectionTimes = (times: ElectionTimes): readonly ElectionProblem[] => {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times;
  const fields = ['leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs'] as const;
  const unusable = fields.filter((field) => !(Number.isFinite(times[field]) && times[field] > 0));
  if (unusable.length > 0) return unusable.map((field) => ({ field, problem: 'must be greater than 0' }));
  const problems: ElectionProblem[] = [];
  if (leaseDurationMs <= renewDeadlineMs) {
    problems.push({ field: 'leaseDurationMs', problem: 'must be greater than the renew deadline' });
  }
  if (renewDeadlineMs <= electionJitterFactor * retryPeriodMs) {
    problems.push({ field: 'renewDeadlineMs', problem: 'must be greater than 1.2 times the retry period' });
  }
  return problems;
};

/** What one candidate remembers of the Lease. Times are monotonic milliseconds of its own clock; the Lease's timestamps count for nothing. */
export interface ElectionMemory {
  /** The Lease as it was seen last; absent when there was none. */
  readonly lease?: ElectionLease;
  /** When it was first seen as it is now. */
  readonly seenAt: number;
  /** False when the server is known to have another state: it must be read before it is written. */
  readonly current: boolean;
  /** When the latest write was sent that made us the holder and was confirmed; absent when we hold nothing. */
  readonly renewedAt?: number;
  /** A Lease that vanished while another held it is not free before this. */
  readonly reservedUntil: number;
}

export const emptyElectionMemory: ElectionMemory = {
  seenAt: Number.NEGATIVE_INFINITY,
  current: false,
  reservedUntil: Number.NEGATIVE_INFINITY,
};

export interface Candidate {
  /** Unique to this process, such as the host name and a random part: a process with the holder's name takes the Lease for its own. */
  readonly identity: string;
  /** Stands in for the duration of a Lease that names none. */
  readonly leaseDurationMs: number;
}

export type ElectionState =
  /** The Lease must be read. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  /** Another leads; `until` is when it may be taken if it does not change. */
  | { readonly kind: 'held'; readonly holder: string; readonly until: number }
  | { readonly kind: 'free'; readonly lease: ElectionLease; readonly reason: 'released' | 'expired' }
  /** We are the holder by name; whether we lead is another question (see `leadsUntil`). */
  | { readonly kind: 'ours'; readonly lease: ElectionLease };

const expiryOf = (
  { seenAt }: ElectionMemory,
  { durationSeconds = 0 }: ElectionLease,
  { leaseDurationMs }: Candidate,
): number => seenAt + (durationSeconds > 0 ? durationSeconds * 1_000 : leaseDurationMs);

/** What the Lease is to us at `now`. */
export const electionState = (memory: ElectionMemory, candidate: Candidate, now: number): ElectionState => {
  const { lease, reservedUntil } = memory;
  if (!memory.current) return { kind: 'unknown' };
  if (lease === undefined) {
    return now < reservedUntil ? { kind: 'held', holder: '', until: reservedUntil } : { kind: 'absent' };
  }
  if (lease.holder === candidate.identity) return { kind: 'ours', lease };
  if (lease.holder === '') return { kind: 'free', lease, reason: 'released' };
  const until = expiryOf(memory, lease, candidate);
  return now < until ? { kind: 'held', holder: lease.holder, until } : { kind: 'free', lease, reason: 'expired' };
};

/** Until when we may write: nobody else can hold the Lease before then. -Infinity when we do not lead. */
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

/** After a read that was answered at `at`. */
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
 * After a read that found no Lease. Another holder may not know yet and still write, so its time is respected. If we held
 * it, another replica may create it at any moment.
 */
export const missedElectionLease = (memory: ElectionMemory, candidate: Candidate): ElectionMemory => {
  const { lease, ...rest } = withoutRenewal(memory);
  const isOthers = lease !== undefined && lease.holder !== '' && lease.holder !== candidate.identity;
  const reservedUntil = isOthers ? expiryOf(memory, lease, candidate) : memory.reservedUntil;
  return { ...rest, current: true, reservedUntil };
};

/** After a write that was sent at `sentAt`, answered at `at` with `lease`. Our time runs from the sending: others may count from then. */
export const wroteElectionLease = (
  memory: ElectionMemory,
  lease: ElectionLease,
  { candidate, sentAt, at }: { readonly candidate: Candidate; readonly sentAt: number; readonly at: number },
): ElectionMemory => {
  const seen = sawElectionLease(memory, lease, { candidate, at });
  return lease.holder === candidate.identity ? { ...seen, renewedAt: sentAt } : seen;
};

/** After a refusal that shows that the server has another Lease than we think. */
export const doubtElectionLease = (memory: ElectionMemory): ElectionMemory => ({ ...memory, current: false });
