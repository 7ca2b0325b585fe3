import {
  type Decision,
  type ObservedLease,
  type ProbeInput,
  type Outage,
  type ProbeMemory,
  type Verdict,
  nextRunAt,
} from './judgement.ts';
import { expiryAgeOf } from './leases.ts';
import { neededOf, nthSmallest } from './rules.ts';

// Kubelets do not reconnect all at once, and a restarted KCM gives every node one new grace period, which starts with KCM: docs/adr/0017-landing.md.

/** A lease that is older than this share of its duration has missed a renewal: a kubelet renews after a quarter of it. */
const freshShare = 0.375;
/** An outage that begins within this time after a restoration, in milliseconds, is flapping. */
const flappingMs = 600_000;
/** Time for which all candidates of a flapping shoot must renew, in milliseconds. */
const renewingMs = 120_000;
/** Longest time between two lists of the leases while a shoot lands, unless half of the probe interval is longer. */
const landingPaceMs = 5_000;

/** Returns the candidates whose lease had already expired when the candidate that makes the share reach the threshold last renewed. */
const expiredBefore = (candidates: readonly ObservedLease[], { settings }: ProbeInput): ReadonlySet<string> => {
  const renewals = candidates.map(({ renewedAt }) => renewedAt);
  const thresholdRenewal = nthSmallest(renewals, neededOf(candidates.length, settings));
  const before = candidates.filter((lease) => lease.renewedAt + expiryAgeOf(lease, settings) <= thresholdRenewal);
  return new Set(before.map(({ name }) => name));
};

/** Notes a restoration: fewer resources are held than in the run before. That the shoot has landed is none: all PATCHes may have been refused. */
const withRestoration = (memory: ProbeMemory, { dependents: { held }, now }: ProbeInput): ProbeMemory => {
  const { outage } = memory;
  if (outage?.toRestore === undefined) return memory;
  const restoredAt = held < outage.toRestore.held ? outage.toRestore.at : memory.restoredAt;
  return { ...memory, restoredAt, outage: { ...outage, toRestore: { held, at: now } } };
};

/** Enters a verdict `unhealthy`, whose threshold was crossed at `since`, into the memory. */
const recordOutage = (since: number, candidates: readonly ObservedLease[], input: ProbeInput): ProbeMemory => {
  const { memory, dependents } = input;
  const { outage, restoredAt } = memory;
  // An outage without `since` is one that `land` assumed because something might be held: it counts only if something is.
  const isKnown = outage?.since !== undefined || dependents.held > 0;
  if (outage !== undefined && isKnown && outage.toRestore === undefined) {
    return { ...memory, outage: { ...outage, since: outage.since ?? since, landing: undefined } };
  }
  const isFlapping =
    input.settings.landingTimeoutMs > 0 && restoredAt !== undefined && input.now - restoredAt < flappingMs;
  return { ...memory, outage: { since, expiredBefore: expiredBefore(candidates, input), isFlapping } };
};

/** Cancels a landing because the outage continues or seems to have returned: the next landing starts from the beginning. */
const withoutLanding = (memory: ProbeMemory): ProbeMemory =>
  memory.outage === undefined ? memory : { ...memory, outage: { ...memory.outage, landing: undefined } };

/** Ends the outage: nothing is held any more. */
export const endOutage = (input: ProbeInput): ProbeMemory => ({
  ...withRestoration(input.memory, input),
  outage: undefined,
});

/** Returns the candidates without a recent renewal. One clock alone shows none: we must have seen that lease change. */
const lateOf = (candidates: readonly ObservedLease[], listedAt: number): readonly string[] => {
  const isFresh = (lease: ObservedLease): boolean =>
    (lease.isTrusted || Number.isFinite(lease.changedAfter)) &&
    listedAt - lease.renewedAt < freshShare * lease.durationMs;
  return candidates.filter((lease) => !isFresh(lease)).map(({ name }) => name);
};

/**
 * Returns when the landing ends. It waits until every candidate that was alive before the outage renews again, and for `landingTimeout` at most. In a flapping
 * shoot all must have renewed for two minutes; a node that never returns is waited for twice that.
 */
const endOfLanding = (
  { belowSince, freshSince }: NonNullable<Outage['landing']>,
  waitMs: number,
  { memory, settings }: ProbeInput,
): Pick<Extract<Verdict, { kind: 'landing' }>, 'earliest' | 'latest'> => {
  const { excusedUntil = Number.NEGATIVE_INFINITY } = memory;
  // After a failure of the API server silence counts anew. Until leases can expire, their age does not show that the kubelets are back.
  const latest = Math.max(
    belowSince + Math.max(settings.landingTimeoutMs, 2 * waitMs),
    excusedUntil + settings.expiryAgeMs,
  );
  return { earliest: freshSince === undefined ? undefined : Math.min(freshSince + waitMs, latest), latest };
};

const mostNamed = 3;

const gaveUp = (late: readonly string[], awaited: number): string => {
  if (late.length === 0) return '';
  const named = late.slice(0, mostNamed).join(', ');
  const those = late.length > mostNamed ? `${named} and others` : named;
  return `; no longer waiting for ${String(late.length)} of ${String(awaited)}: ${those}`;
};

/**
 * Tracks the outage, and lets a verdict `healthy` restore held resources only after the shoot has landed. The landing restarts if a candidate is late
 * again before everything is restored, but not beyond the end of the first wait: a second, short outage once began unseen while the seed was unreachable, and
 * KCM was restored into it.
 */
export const trackOutage = (decision: Decision, candidates: readonly ObservedLease[], input: ProbeInput): Decision => {
  const { verdict } = decision;
  const memory = withRestoration(decision.memory, input);
  if (verdict.kind === 'unhealthy') {
    return { ...decision, memory: recordOutage(verdict.crossedAt, candidates, { ...input, memory }) };
  }
  // A rule holds, but is not confirmed yet.
  if (verdict.kind === 'confirming') return { ...decision, memory: withoutLanding(memory) };
  if (verdict.kind !== 'healthy') return decision;
  if (input.dependents.mayBeHeld) return land({ ...decision, memory }, candidates, input);
  return { ...decision, memory: endOutage({ ...input, memory }) };
};

const land = (decision: Decision, candidates: readonly ObservedLease[], input: ProbeInput): Decision => {
  const { now, settings, dependents } = input;
  const { memory, reason } = decision;
  const { listedAt = now, excusedUntil = Number.NEGATIVE_INFINITY } = memory;
  const outage = memory.outage ?? { expiredBefore: new Set<string>() };
  const awaited = candidates.filter(({ name }) => !outage.expiredBefore.has(name));
  const late = lateOf(awaited, listedAt);
  const landing = {
    belowSince: Math.max(outage.landing?.belowSince ?? now, excusedUntil),
    freshSince: late.length === 0 ? (outage.landing?.freshSince ?? now) : undefined,
  };
  const waitMs = outage.isFlapping === true ? renewingMs : 0;
  const { earliest, latest } = endOfLanding(landing, waitMs, input);
  const until = earliest ?? latest;
  if (now >= until || awaited.length === 0 || settings.landingTimeoutMs === 0) {
    return {
      ...decision,
      reason: `${reason}${gaveUp(late, awaited.length)}`,
      memory: { ...memory, outage: { ...outage, landing, toRestore: { held: dependents.held, at: now } } },
    };
  }
  const renewed = awaited.length - late.length;
  const limit = `in ${String(Math.ceil((latest - now) / 1_000))} s at the latest`;
  const terms = waitMs === 0 ? limit : `flapping, so all must renew for ${String(waitMs / 1_000)} s, ${limit}`;
  const paceMs = Math.max(landingPaceMs, settings.probeIntervalMs / 2);
  return {
    ...decision,
    verdict: { kind: 'landing', renewed, awaited: awaited.length, late: late.slice(0, mostNamed), earliest, latest },
    reason: `${reason}; landing: ${String(renewed)} of ${String(awaited.length)} renewed, ${terms}`,
    nextRunAt: Math.min(decision.nextRunAt, nextRunAt(input, Math.min(until, now + paceMs))),
    memory: { ...memory, outage: { ...outage, landing } },
  };
};
