import {
  type JudgedLease,
  type Lease,
  type Look,
  distrustTimestamps,
  forgiveDarkness,
  hasAnyMoved,
  lookAtLeases,
} from '../../domain/index.ts';
import type { Circumstances, ProbeMemory } from './verdict.ts';

export const confirmAfterMs = 2_000;
/** KCM loses its own leader lease within this, and starts its timers anew afterwards. */
const darkSpellMs = 15_000;
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

/** Enters a list of the leases into the memory and judges each. */
export const takeLook = (
  { items, look }: { readonly items: readonly Lease[]; readonly look: Look },
  { memory, settings }: Circumstances,
): Looked => {
  const ended = endDarkness(memory, look);
  const { book, unconfirmed } = ended;
  const isDisproved = hasAnyMoved(book, items, unconfirmed);
  const { limitMs } = settings;
  const looked = lookAtLeases(
    isDisproved ? distrustTimestamps(book, { disproved: unconfirmed, limitMs }) : book,
    items,
    { look, limitMs },
  );
  const firstLooks = keepFirstLooks(ended, looked.judged, look);
  const known = { ...ended, firstLooks };
  const leases = looked.judged.map((lease) => watch(lease, known, { look, limitMs }));
  const renewedSince = sinceRenewal(ended, leases);
  const { renewedSince: _, ...rest } = ended;
  const next = { ...rest, book: looked.book, firstLooks, unconfirmed: new Set<string>() };
  return { leases, memory: renewedSince === undefined ? next : { ...next, renewedSince } };
};

/** What changed between two looks was renewed after the first of them, whatever clocks say. */
const sinceRenewal = ({ book, renewedSince }: ProbeMemory, leases: readonly WatchedLease[]): number | undefined => {
  if (leases.every(({ silent }) => silent)) return undefined;
  return leases.some(({ moved }) => moved) ? book.lastLook : renewedSince;
};

/** Ends a dark spell at the first list that came through. */
export const endDarkness = (memory: ProbeMemory, look: Look): ProbeMemory => {
  const { darkSince, ...rest } = memory;
  if (darkSince === undefined) return rest;
  const lit = { ...rest, darkUntil: look.endedAt };
  return look.endedAt - darkSince < darkSpellMs ? lit : { ...lit, book: forgiveDarkness(memory.book, look.endedAt) };
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
  { firstLooks, darkUntil = Number.NEGATIVE_INFINITY }: ProbeMemory,
  { look, limitMs }: { readonly look: Look; readonly limitMs: number },
): WatchedLease => {
  const { name, expiresAt, moved } = lease;
  const firstLook = (moved ? undefined : firstLooks.get(name)) ?? Number.NEGATIVE_INFINITY;
  const renewedAt = Math.max(expiresAt - limitMs, firstLook, darkUntil);
  const confirmedAt = moved ? look.endedAt + confirmAfterMs : Number.NEGATIVE_INFINITY;
  const silentAt = Math.max(renewedAt + silentMs, confirmedAt);
  return { ...lease, silentAt, silent: look.startedAt >= silentAt };
};
