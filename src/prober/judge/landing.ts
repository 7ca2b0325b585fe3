import { minRetryDelayMs } from './decision.ts';
import type { ObservedLease } from './observed-leases.ts';
import { neededOf, nthSmallest, reachesThreshold } from './lease-threshold.ts';
import type { Decision } from './decision.ts';
import type { ProbeInput, ProbeSettings } from './probe-input.ts';
import type { Flapping, Outage, ProbeMemory } from './probe-memory.ts';

// Kubelets do not reconnect all at once, and a restarted KCM gives every node one new grace period, which starts with KCM: docs/adr/0017-landing.md.

/** Share of the lease duration, which is 4 renew intervals of a kubelet: a lease that is older than 1.5 intervals has missed a renewal. */
const freshShare = 1.5 / 4;
/** An outage that begins within this time after a restoration is flapping. */
const flappingMs = 600_000;
/** Most doublings of the wait, one per trip: 1, 2, 4, 8 times `landingTimeout`. */
const mostDoublings = 3;
/** Longest time between two lists of the leases while a shoot lands, unless half of the probe interval is longer. */
const landingPaceMs = 5_000;

/** Returns the candidates whose lease had already expired when the candidate that makes the share reach the threshold last renewed. */
const expiredBefore = (candidates: readonly ObservedLease[], settings: ProbeSettings): ReadonlySet<string> => {
  const renewals = candidates.map(({ renewedAt }) => renewedAt);
  const thresholdRenewal = nthSmallest(renewals, neededOf(candidates.length, settings)) ?? Number.NEGATIVE_INFINITY;
  const before = candidates.filter(({ renewedAt }) => renewedAt + settings.expiryAgeMs <= thresholdRenewal);
  return new Set(before.map(({ name }) => name));
};

/** Enters a verdict `unhealthy` into the memory. */
const recordOutage = (
  memory: ProbeMemory,
  candidates: readonly ObservedLease[],
  { now, settings }: Pick<ProbeInput, 'now' | 'settings'>,
): ProbeMemory => {
  const { outage, flapping, ...rest } = memory;
  if (outage !== undefined && outage.landedAt === undefined && outage.isAssumed !== true) return withoutLanding(memory);
  const next: Outage = { expiredBefore: expiredBefore(candidates, settings) };
  const restored = afterRestoration(memory);
  if (restored === undefined || now - restored.restoredAt >= flappingMs) return { ...rest, outage: next };
  return { ...rest, outage: next, flapping: { ...restored, trips: restored.trips + 1 } };
};

/** Cancels a landing because the outage continues or seems to have returned: the next landing starts from the beginning. */
const withoutLanding = (memory: ProbeMemory): ProbeMemory => {
  if (memory.outage === undefined) return memory;
  const { landing: _, ...outage } = memory.outage;
  return { ...memory, outage };
};

const afterRestoration = ({ outage, flapping }: ProbeMemory): Flapping | undefined =>
  outage?.landedAt === undefined || outage.isAssumed === true
    ? flapping
    : { trips: flapping?.trips ?? 0, restoredAt: outage.landedAt };

/** Ends the outage when nothing is held any more, and forgets trips after ten minutes. */
export const endOutage = (memory: ProbeMemory, now: number): ProbeMemory => {
  const { outage: _, flapping: __, ...rest } = memory;
  const restored = afterRestoration(memory);
  const latest = restored === memory.flapping ? restored : { trips: restored?.trips ?? 0, restoredAt: now };
  return latest === undefined || now - latest.restoredAt >= flappingMs ? rest : { ...rest, flapping: latest };
};

interface LandingProgress {
  readonly late: readonly string[];
  readonly awaited: number;
  readonly landing: NonNullable<Outage['landing']>;
  readonly until: number;
  /** Explanation of the wait, for people. */
  readonly terms: string;
}

const secondsUntil = (at: number, now: number): string => `${String(Math.ceil((at - now) / 1_000))} s`;

/** Returns the candidates without a recent renewal. After a restart, or after timestamps proved wrong, a timestamp alone is no renewal. */
const lateOf = (
  candidates: readonly ObservedLease[],
  { now, memory, settings }: Pick<ProbeInput, 'now' | 'memory' | 'settings'>,
): readonly string[] => {
  const { lastObservedAt: observedAt = now, distrustUntil, neverSeenRenewed } = memory.history;
  const distrustedAt = distrustUntil - settings.expiryAgeMs;
  const isFresh = ({ name, renewedAt, durationMs }: ObservedLease): boolean =>
    !neverSeenRenewed.has(name) && renewedAt > distrustedAt && observedAt - renewedAt < durationMs * freshShare;
  return candidates.filter((lease) => !isFresh(lease)).map(({ name }) => name);
};

/**
 * Returns the progress of the landing. It waits until every candidate that was alive before the outage renews again, and for `landingTimeout` at most. In a
 * flapping shoot all of them must keep renewing for a time that doubles with each trip; after twice that time the landing stops waiting for those that are
 * still late. Downtime of the API server, in which no kubelet can renew, does not count.
 */
const assessLanding = (
  candidates: readonly ObservedLease[],
  outage: Outage | undefined,
  input: ProbeInput,
): LandingProgress => {
  const { now, memory, settings } = input;
  const awaited = candidates.filter(({ name }) => outage?.expiredBefore.has(name) !== true);
  const late = lateOf(awaited, input);
  const { notOlderThan } = memory.history;
  const belowSince = Math.max(outage?.landing?.belowSince ?? now, notOlderThan, memory.downUntil ?? notOlderThan);
  const freshSince = late.length === 0 ? (outage?.landing?.freshSince ?? now) : undefined;
  const trips = Math.min(memory.flapping?.trips ?? 0, mostDoublings);
  /** Time for which all must keep renewing, in milliseconds. */
  const renewingMs = trips === 0 ? 0 : settings.landingTimeoutMs * 2 ** trips;
  // After downtime the age of all leases starts again. Until they can expire, their age does not show that the kubelets are back.
  const latest = Math.max(
    belowSince + Math.max(settings.landingTimeoutMs, 2 * renewingMs),
    notOlderThan + settings.expiryAgeMs,
  );
  const settledAt = freshSince === undefined ? Number.POSITIVE_INFINITY : freshSince + renewingMs;
  const limit = `in ${secondsUntil(latest, now)} at the latest`;
  return {
    late,
    awaited: awaited.length,
    landing: { belowSince, freshSince },
    until: Math.min(settledAt, latest),
    terms: trips === 0 ? limit : `flapping, so all must renew for ${String(renewingMs / 1_000)} s, ${limit}`,
  };
};

const mostNamed = 3;

const gaveUp = ({ late, awaited }: LandingProgress): string => {
  const named = late.slice(0, mostNamed).join(', ');
  const those = late.length > mostNamed ? `${named} and others` : named;
  return `no longer waiting for ${String(late.length)} of ${String(awaited)}: ${those}`;
};

/**
 * Tracks the outage, and lets a verdict `healthy` restore held resources only after the shoot has landed. The landing restarts if a candidate is late
 * again before everything is restored, but not beyond the end of the first wait: a second, short outage once began unseen while the seed was unreachable, and
 * KCM was restored into it.
 */
export const trackOutage = (decision: Decision, candidates: readonly ObservedLease[], input: ProbeInput): Decision => {
  const { verdict, memory, counts } = decision;
  const { now, settings } = input;
  if (verdict.kind === 'unhealthy') return { ...decision, memory: recordOutage(memory, candidates, input) };
  if (verdict.kind !== 'healthy') {
    // The outage continues even if a veto or a missing confirmation keeps the verdict from `unhealthy`.
    const lasts = memory.allSilentSeenAt !== undefined || (counts !== undefined && reachesThreshold(counts, settings));
    return lasts ? { ...decision, memory: withoutLanding(memory) } : decision;
  }
  if (!input.dependents.mayBeHeld) return { ...decision, memory: endOutage(memory, now) };
  return land(decision, candidates, input);
};

const land = (decision: Decision, candidates: readonly ObservedLease[], input: ProbeInput): Decision => {
  const { memory, reason } = decision;
  const { now, settings } = input;
  const { outage } = memory;
  const wait = assessLanding(candidates, outage, { ...input, memory });
  const { late, awaited, landing, until, terms } = wait;
  const currentOutage: Outage = outage ?? {
    expiredBefore: new Set(),
    ...(input.dependents.anyHeld ? {} : { isAssumed: true }),
  };
  if (now >= until || awaited === 0 || settings.landingTimeoutMs === 0) {
    // A cancelled landing keeps the instant at which the shoot had landed.
    const landedAt = currentOutage.landing === undefined ? now : (currentOutage.landedAt ?? now);
    const landed = { ...decision, memory: { ...memory, outage: { ...currentOutage, landing, landedAt } } };
    return late.length === 0 ? landed : { ...landed, reason: `${reason}; ${gaveUp(wait)}` };
  }
  const renewed = awaited - late.length;
  const paceMs = Math.max(landingPaceMs, settings.probeIntervalMs / 2);
  return {
    ...decision,
    verdict: { kind: 'landing', renewed, awaited, until },
    reason: `${reason}; landing: ${String(renewed)} of ${String(awaited)} renewed, ${terms}`,
    nextRunAt: Math.max(now + minRetryDelayMs, Math.min(decision.nextRunAt, until, now + paceMs)),
    memory: { ...memory, outage: { ...currentOutage, landing } },
  };
};
