import { decisionOf, soonestMs } from './decision.ts';
import { type CandidatesCase, type TurnInstants, isPathReachable } from './external-probe-rules.ts';
import { type ObservedLease, confirmAfterMs } from './observed-leases.ts';
import { nthSmallest } from './threshold.ts';
import type { Decision } from './decision.ts';
import type { ProbeInput, ProbeSettings } from './probe-input.ts';

// A common cause shows much earlier than the death of one node. A kubelet renews at a quarter of `leaseDurationSeconds` (`nodeLeaseRenewIntervalFraction` in
// https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet.go), so of three or more healthy ones some renews in any 10 s of 40.

/** So many nodes that fall silent together have one cause. */
const fewestSilent = 3;

/** How long these leases may be silent; Infinity where the rule is off. */
const waitMsOf = (leases: readonly ObservedLease[], { allSilentAfterMs, graceMs }: ProbeSettings): number => {
  if (allSilentAfterMs !== undefined) return allSilentAfterMs === 0 ? Number.POSITIVE_INFINITY : allSilentAfterMs;
  return leases.reduce((longest, { durationMs }) => Math.max(longest, durationMs / 2), graceMs / 2);
};

const silentSinceOf = (leases: readonly ObservedLease[]): number =>
  leases.reduce((latest, { silentSince }) => Math.max(latest, silentSince), Number.NEGATIVE_INFINITY);

/**
 * Monotonic instant from which all of the leases count as silent if none is renewed; undefined for too few. Where the API server has failed or
 * stalled for a moment, kubelets get half of the wait again from its end: one that was refused tries again after its renew interval.
 */
const allSilentAt = (
  leases: readonly ObservedLease[],
  { settings, memory }: Pick<ProbeInput, 'settings' | 'memory'>,
): number | undefined => {
  if (leases.length < fewestSilent) return undefined;
  const waitMs = waitMsOf(leases, settings);
  const { downUntil = Number.NEGATIVE_INFINITY, stalledUntil = Number.NEGATIVE_INFINITY } = memory;
  const at = Math.max(silentSinceOf(leases) + waitMs, downUntil + waitMs / 2, stalledUntil + waitMs / 2);
  return Number.isFinite(at) ? at : undefined;
};

/** No subset of enough leases is silent as a whole before this. */
const someSilentAt = (leases: readonly ObservedLease[], settings: ProbeSettings): number | undefined =>
  nthSmallest(
    leases.map((lease) => lease.silentSince + waitMsOf([lease], settings)),
    fewestSilent,
  );

/** True if some subset of enough leases may be silent as a whole. */
export const someAreSilent = (leases: readonly ObservedLease[], { settings, memory }: ProbeInput): boolean =>
  (memory.history.lastObservedAt ?? Number.NEGATIVE_INFINITY) >=
  (someSilentAt(leases, settings) ?? Number.POSITIVE_INFINITY);

/** The first instant at which all candidates would be silent if none were renewed; while the external probe objects, another state of it would turn the verdict then. */
export const allSilentInstant = (candidates: readonly ObservedLease[], input: ProbeInput): TurnInstants => {
  const at = allSilentAt(candidates, input);
  if (!isPathReachable(input.externalProbe)) return { deadline: at };
  return { verdictMayTurnAt: at, deadline: at !== undefined && at > input.now ? at : undefined };
};

/**
 * The same where it is not known which of the leases are candidates. The deadline is that of all leases: some three of them may be silent sooner, but a healthy
 * shoot would be probed twice as often for these, and the other deadlines are left.
 */
export const earliestAllSilent = (leases: readonly ObservedLease[], input: ProbeInput): TurnInstants => {
  const { deadline } = allSilentInstant(leases, input);
  return isPathReachable(input.externalProbe)
    ? { verdictMayTurnAt: someSilentAt(leases, input.settings), deadline }
    : { deadline };
};

/** Where not one of the candidates has renewed for long: they are cut off, before any single lease has expired. Undefined: the rule says nothing. */
export const judgeAllSilent = (
  { candidates, counts, crossesAt }: CandidatesCase,
  input: ProbeInput,
): Decision | undefined => {
  const { memory, externalProbe, now } = input;
  const at = allSilentAt(candidates, input);
  const observedAt = memory.history.lastObservedAt ?? Number.NEGATIVE_INFINITY;
  if (at === undefined || observedAt < at || isPathReachable(externalProbe)) return undefined;
  const { allSilentSeenAt = observedAt } = memory;
  const known = { ...input, memory: { ...memory, allSilentSeenAt } };
  const silentMs = observedAt - silentSinceOf(candidates);
  const reason = `none of ${String(candidates.length)} candidates has renewed for ${(silentMs / 1_000).toFixed(1)} s`;
  if (observedAt - allSilentSeenAt < confirmAfterMs) {
    return decisionOf(known, {
      verdict: { kind: 'confirming' },
      reason: `${reason}; looking again`,
      counts,
      nextRunAt: Math.max(allSilentSeenAt + confirmAfterMs, now + soonestMs),
    });
  }
  const earlyByMs = Math.max(0, (crossesAt ?? at) - at);
  return decisionOf(known, { verdict: { kind: 'unhealthy', crossedAt: at, earlyByMs }, reason, counts });
};
