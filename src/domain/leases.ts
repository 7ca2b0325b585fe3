import { type JsonObject, DecodeError, decodeMeta, decodeObject, optionalObject, optionalString } from './decode.ts';

/** A node Lease (`coordination.k8s.io/v1`, namespace `kube-node-lease`); it bears its node's name. */
export interface Lease {
  readonly name: string;
  /** `spec.renewTime` as the kubelet wrote it, RFC 3339 with microseconds. */
  readonly renewTime?: string;
}

export const decodeLease = (json: unknown, path: string): Lease => {
  const object: JsonObject = decodeObject(json, path);
  const { name } = decodeMeta(object, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const renewTime = optionalString(spec.renewTime, `${path}.spec.renewTime`);
  if (renewTime === undefined || renewTime === '') return { name };
  if (Number.isNaN(Date.parse(renewTime))) throw new DecodeError(`${path}.spec.renewTime`, 'a time', renewTime);
  return { name, renewTime };
};

/** One list of the leases. Times in milliseconds, monotonic but for `wall`. */
export interface Look {
  /** When the list was asked for: what it shows is not older than this. */
  readonly startedAt: number;
  /** When it was in. */
  readonly endedAt: number;
  /** Our wall clock at `endedAt`. */
  readonly wall: number;
  /** API server's wall clock minus ours, where the difference is more than its measurement allows (see `significantSkew`). */
  readonly skewMs?: number;
}

/** What is remembered of one lease: a timestamp and a time. */
interface LeaseEntry {
  readonly renewTime: string | undefined;
  /** Monotonic time from which the lease's age counts; -Infinity when it never was renewed. */
  readonly renewedAt: number;
  /** Never seen to change: only its timestamp speaks. */
  readonly unmoved: boolean;
}

/** Memory of the leases of one shoot, from look to look. */
export interface LeaseBook {
  readonly entries: ReadonlyMap<string, LeaseEntry>;
  /** Monotonic time of the latest look. */
  readonly lastLook?: number;
  /** No lease counts as older than this: the end of the last dark spell. */
  readonly notOlderThan: number;
  /** Until then timestamps count for nothing. */
  readonly distrustUntil: number;
}

export const emptyLeaseBook: LeaseBook = {
  entries: new Map(),
  notOlderThan: Number.NEGATIVE_INFINITY,
  distrustUntil: Number.NEGATIVE_INFINITY,
};

export interface JudgedLease {
  readonly name: string;
  /** Monotonic instant at which the lease expires (or expired) if it is not renewed. */
  readonly expiresAt: number;
  readonly expired: boolean;
  /** Not in the book before this look: only its timestamp speaks. */
  readonly firstSeen: boolean;
  /** Renewed since the previous look. */
  readonly moved: boolean;
}

/** Tolerance, in milliseconds, between a node's timestamp and our looks. */
const timestampToleranceMs = 2_000;

/**
 * Enters a look into the book and judges every lease by `limitMs`.
 *
 * As KCM's node lifecycle controller does, a lease is judged by when we saw it change, so that a node with a wrong clock is not taken
 * for a dead one; its own timestamp counts where it agrees with what we saw, and on the first look, where there is nothing else.
 * A timestamp in the future counts as "now": a renewal cannot lie ahead of the look that shows it.
 */
export const lookAtLeases = (
  book: LeaseBook,
  leases: readonly Lease[],
  { look, limitMs }: { readonly look: Look; readonly limitMs: number },
): { readonly book: LeaseBook; readonly judged: readonly JudgedLease[] } => {
  const entries = new Map<string, LeaseEntry>();
  const judged = leases.map((lease): JudgedLease => {
    const known = book.entries.get(lease.name);
    const moved = known !== undefined && known.renewTime !== lease.renewTime;
    const renewedAt = known === undefined || moved ? effectiveRenewal(book, lease, { look, known }) : known.renewedAt;
    const unmoved = known === undefined || (known.unmoved && !moved);
    entries.set(lease.name, { renewTime: lease.renewTime, renewedAt, unmoved });
    const expiresAt = (lease.renewTime === undefined ? renewedAt : Math.max(renewedAt, book.notOlderThan)) + limitMs;
    return { name: lease.name, expiresAt, expired: look.startedAt >= expiresAt, firstSeen: known === undefined, moved };
  });
  return {
    book: { ...book, entries, lastLook: look.startedAt },
    judged,
  };
};

/** Whether a lease of the book was renewed since the latest look. */
export const hasMoved = (book: LeaseBook, { name, renewTime }: Lease): boolean => {
  const known = book.entries.get(name);
  return known !== undefined && known.renewTime !== renewTime;
};

const effectiveRenewal = (
  book: LeaseBook,
  lease: Lease,
  { look, known }: { readonly look: Look; readonly known: LeaseEntry | undefined },
): number => {
  if (lease.renewTime === undefined) return Number.NEGATIVE_INFINITY;
  if (look.endedAt < book.distrustUntil) return look.endedAt;
  const age = look.wall - Date.parse(lease.renewTime);
  if (known === undefined || book.lastLook === undefined) {
    const ageByServer = age + (look.skewMs ?? 0);
    return look.endedAt - Math.max(0, Math.min(age, ageByServer));
  }
  const sincePreviousLook = look.endedAt - book.lastLook;
  const agrees = age >= -timestampToleranceMs && age <= sincePreviousLook + timestampToleranceMs;
  return look.endedAt - (agrees ? Math.max(0, age) : 0);
};

/** After a spell in which nobody could renew, no lease is older than the spell's end (monotonic `at`). */
export const forgiveDarkness = (book: LeaseBook, at: number): LeaseBook => ({
  ...book,
  notOlderThan: Math.max(book.notOlderThan, at),
});

/**
 * Timestamps proved wrong (a lease that they called expired was renewed right after): for `limitMs` from the look that was disproved, only
 * what was seen counts. `disproved` and all leases that were never seen to change are as old as that look at most.
 */
export const distrustTimestamps = (
  book: LeaseBook,
  { disproved, limitMs }: { readonly disproved: ReadonlySet<string>; readonly limitMs: number },
): LeaseBook => {
  const { lastLook } = book;
  if (lastLook === undefined) return book;
  const entries = Array.from(book.entries, ([name, entry]): [string, LeaseEntry] => {
    const isDoubtful = entry.renewTime !== undefined && (entry.unmoved || disproved.has(name));
    return [name, isDoubtful ? { ...entry, renewedAt: Math.max(entry.renewedAt, lastLook) } : entry];
  });
  return { ...book, entries: new Map(entries), distrustUntil: lastLook + limitMs };
};

/**
 * Difference between an API server's wall clock and ours, from the `Date` header of its answer (resolution 1 s, cut off), in
 * milliseconds; undefined while it is within 2 s + half the round trip, where it says nothing.
 */
export const significantSkew = (exchange: {
  readonly date: number | undefined;
  readonly wallAtEnd: number;
  readonly roundTripMs: number;
}): number | undefined => {
  const skew = measureSkew(exchange);
  return skew === undefined || Math.abs(skew) <= timestampToleranceMs + exchange.roundTripMs / 2 ? undefined : skew;
};

export const measureSkew = (exchange: {
  readonly date: number | undefined;
  readonly wallAtEnd: number;
  readonly roundTripMs: number;
}): number | undefined =>
  exchange.date === undefined ? undefined : exchange.date + 500 - (exchange.wallAtEnd - exchange.roundTripMs / 2);
