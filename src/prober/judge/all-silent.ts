import { decisionOf, minRetryDelayMs } from './decision.ts';
import { type CandidatesCase, type RuleInstants, hasVeto } from './external-probe-rules.ts';
import { type ObservedLease, confirmAfterMs } from './observed-leases.ts';
import { nthSmallest } from './lease-threshold.ts';
import type { Decision } from './decision.ts';
import type { ProbeInput, ProbeSettings } from './probe-input.ts';

// A common cause shows much earlier than the failure of one node. A kubelet renews after a quarter of `leaseDurationSeconds` (`nodeLeaseRenewIntervalFraction`
// in https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet.go), so of three or more healthy ones some renews in any 10 s of 40.

/** This many nodes that fall silent together have a common cause. */
const fewestSilent = 3;

/** Returns how long these leases may be silent, in milliseconds; Infinity if the rule is off. */
const waitMsOf = (leases: readonly ObservedLease[], { allSilentAfterMs, graceMs }: ProbeSettings): number => {
  if (allSilentAfterMs !== undefined) return allSilentAfterMs === 0 ? Number.POSITIVE_INFINITY : allSilentAfterMs;
  return leases.reduce((longest, { durationMs }) => Math.max(longest, durationMs / 2), graceMs / 2);
};

const silentSinceOf = (leases: readonly ObservedLease[]): number =>
  leases.reduce((latest, { silentSince }) => Math.max(latest, silentSince), Number.NEGATIVE_INFINITY);

/**
 * Returns the monotonic instant from which all of the leases count as silent if none is renewed; undefined if there are too few. After a short failure or
 * stall of the API server, kubelets get another half of the wait: a kubelet whose request failed retries after its renew interval.
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

/** Returns the first instant at which some subset of three or more leases can be silent as a whole. */
const someSilentAt = (leases: readonly ObservedLease[], settings: ProbeSettings): number | undefined =>
  nthSmallest(
    leases.map((lease) => lease.silentSince + waitMsOf([lease], settings)),
    fewestSilent,
  );

/** True if some subset of three or more leases may be silent as a whole. */
export const someAreSilent = (leases: readonly ObservedLease[], { settings, memory }: ProbeInput): boolean =>
  (memory.history.lastObservedAt ?? Number.NEGATIVE_INFINITY) >=
  (someSilentAt(leases, settings) ?? Number.POSITIVE_INFINITY);

/**
 * Returns the first instant at which all candidates would be silent if none were renewed. While the external probe vetoes, another state of it would change the
 * verdict from that instant.
 */
export const allSilentInstant = (candidates: readonly ObservedLease[], input: ProbeInput): RuleInstants => {
  const at = allSilentAt(candidates, input);
  if (!hasVeto(input.externalProbe)) return { deadline: at };
  return { verdictMayTurnAt: at, deadline: at !== undefined && at > input.now ? at : undefined };
};

/**
 * Returns the instants of `allSilentInstant` if the candidates are not known. The deadline is that of all leases together. Some three of them may be silent
 * sooner, but a healthy shoot would then be probed twice as often, and the other deadlines still apply.
 */
export const earliestAllSilent = (leases: readonly ObservedLease[], input: ProbeInput): RuleInstants => {
  const { deadline } = allSilentInstant(leases, input);
  return hasVeto(input.externalProbe)
    ? { verdictMayTurnAt: someSilentAt(leases, input.settings), deadline }
    : { deadline };
};

/** Returns the decision if no candidate has renewed for too long: all are cut off, even before a lease has expired. Undefined if the rule does not apply. */
export const judgeAllSilent = (
  { candidates, counts, crossesAt }: CandidatesCase,
  input: ProbeInput,
): Decision | undefined => {
  const { memory, externalProbe, now } = input;
  const at = allSilentAt(candidates, input);
  const observedAt = memory.history.lastObservedAt ?? Number.NEGATIVE_INFINITY;
  if (at === undefined || observedAt < at || hasVeto(externalProbe)) return undefined;
  const { allSilentSeenAt = observedAt } = memory;
  const withFirstSighting = { ...input, memory: { ...memory, allSilentSeenAt } };
  const silentMs = observedAt - silentSinceOf(candidates);
  const reason = `none of ${String(candidates.length)} candidates has renewed for ${(silentMs / 1_000).toFixed(1)} s`;
  if (observedAt - allSilentSeenAt < confirmAfterMs) {
    return decisionOf(withFirstSighting, {
      verdict: { kind: 'confirming' },
      reason: `${reason}; looking again`,
      counts,
      nextRunAt: Math.max(allSilentSeenAt + confirmAfterMs, now + minRetryDelayMs),
    });
  }
  const earlyByMs = Math.max(0, (crossesAt ?? at) - at);
  return decisionOf(withFirstSighting, { verdict: { kind: 'unhealthy', crossedAt: at, earlyByMs }, reason, counts });
};
