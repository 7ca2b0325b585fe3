import {
  type JudgedLease,
  type Lease,
  type Look,
  distrustTimestamps,
  hasAnyMoved,
  lookAtLeases,
} from '../../domain/index.ts';
import type { ProbeInput, ProbeMemory } from './verdict.ts';

export const confirmAfterMs = 2_000;
/** A kubelet renews every 10 s; one that did not for so long has missed a renewal. */
const silentMs = 15_000;

export interface WatchedLease extends JudgedLease {
  /** Monotonic instant from which its kubelet counts as silent if it does not renew. */
  readonly silentAt: number;
  readonly silent: boolean;
}

export interface Looked {
  readonly leases: readonly WatchedLease[];
  readonly memory: ProbeMemory;
}

/** Enters a list of the leases into the memory, as `endDowntime` left it, and judges each. */
export const takeLook = (
  { items, look }: { readonly items: readonly Lease[]; readonly look: Look },
  { memory, settings }: ProbeInput,
): Looked => {
  const { book, unconfirmed } = memory;
  const isDisproved = hasAnyMoved(book, items, unconfirmed);
  const { limitMs } = settings;
  const looked = lookAtLeases(
    isDisproved ? distrustTimestamps(book, { disproved: unconfirmed, limitMs }) : book,
    items,
    { look, limitMs },
  );
  const firstLooks = keepFirstLooks(memory, looked.judged, look);
  const known = { ...memory, firstLooks };
  const leases = looked.judged.map((lease) => watch(lease, known, { look, limitMs }));
  const renewedSince = sinceRenewal(memory, leases);
  const { renewedSince: _, failedRuns: __, ...rest } = memory;
  const next = { ...rest, book: looked.book, firstLooks, unconfirmed: new Set<string>() };
  return { leases, memory: renewedSince === undefined ? next : { ...next, renewedSince } };
};

/** What changed between two looks was renewed after the first of them, whatever clocks say. */
const sinceRenewal = ({ book, renewedSince }: ProbeMemory, leases: readonly WatchedLease[]): number | undefined => {
  if (leases.every(({ silent }) => silent)) return undefined;
  return leases.some(({ moved }) => moved) ? book.lastLook : renewedSince;
};

const keepFirstLooks = (
  { firstLooks }: ProbeMemory,
  judged: readonly JudgedLease[],
  look: Look,
): ReadonlyMap<string, number> => {
  const kept = new Map<string, number>();
  for (const { name, firstSeen, moved } of judged) {
    if (moved) continue;
    const at = firstSeen ? look.endedAt : firstLooks.get(name);
    if (at !== undefined) kept.set(name, at);
  }
  return kept;
};

/**
 * Silence is judged as expiry is, but on no timestamp alone: a lease never seen to change is as old as our first look at it, one whose
 * change has just come to light is looked at a second time, and nobody was silent while the API server was away.
 */
const watch = (
  lease: JudgedLease,
  { firstLooks, downUntil = Number.NEGATIVE_INFINITY }: ProbeMemory,
  { look, limitMs }: { readonly look: Look; readonly limitMs: number },
): WatchedLease => {
  const { name, expiresAt, moved } = lease;
  const firstLook = (moved ? undefined : firstLooks.get(name)) ?? Number.NEGATIVE_INFINITY;
  const renewedAt = Math.max(expiresAt - limitMs, firstLook, downUntil);
  const confirmedAt = moved ? look.endedAt + confirmAfterMs : Number.NEGATIVE_INFINITY;
  const silentAt = Math.max(renewedAt + silentMs, confirmedAt);
  return { ...lease, silentAt, silent: look.startedAt >= silentAt };
};
