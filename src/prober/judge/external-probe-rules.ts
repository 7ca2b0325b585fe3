import { decisionOf, nextScheduledRun, minRetryDelayMs } from './decision.ts';
import type { ObservedLease } from './observed-leases.ts';
import { nthSmallest } from './lease-threshold.ts';
import type { Decision } from './decision.ts';
import type { ExternalProbeView, ProbeInput } from './probe-input.ts';
import type { LeaseCounts } from './verdict.ts';

const canTrigger = (externalProbe: ExternalProbeView | undefined): externalProbe is ExternalProbeView =>
  externalProbe?.mode === 'trigger';
/** True if the external probe vetoes: while the address is reachable, the network is not why kubelets are silent. */
export const hasVeto = (externalProbe: ExternalProbeView | undefined): boolean =>
  externalProbe !== undefined && externalProbe.mode !== 'observe' && externalProbe.state === 'reachable';
const isTriggering = (externalProbe: ExternalProbeView | undefined): externalProbe is ExternalProbeView =>
  canTrigger(externalProbe) && externalProbe.state === 'unreachable';

const nthSilence = (leases: readonly ObservedLease[], count: number): number | undefined =>
  nthSmallest(
    leases.map(({ silentAt }) => silentAt),
    count,
  );

/** True if the external probe could cause a scale-down (mode `trigger`): the address is unreachable, and two or more leases are silent. */
export const couldTrigger = (leases: readonly ObservedLease[], { externalProbe }: ProbeInput): boolean =>
  isTriggering(externalProbe) && leases.filter(({ silent }) => silent).length >= 2;

/** Instants at which a rule would change a healthy verdict to unhealthy if no lease were renewed, in monotonic milliseconds. */
export interface RuleInstants {
  /** Instant for the current state of the external probe. Absent if the rule would not change the verdict in this state. */
  readonly deadline?: number | undefined;
  /** Instant for another state of the external probe. Absent if the rule would not change the verdict in any other state. */
  readonly verdictMayTurnAt?: number | undefined;
}

/** Returns the earlier instant at which another state of the external probe would change the verdict. */
export const earlierTurn = (a: RuleInstants, b: RuleInstants): number | undefined => {
  const at = Math.min(...[a.verdictMayTurnAt, b.verdictMayTurnAt].filter((instant) => instant !== undefined));
  return Number.isFinite(at) ? at : undefined;
};

/** `count`: number of silent leases that the trigger needs. */
const triggerDeadline = (
  leases: readonly ObservedLease[],
  count: number,
  externalProbe: ExternalProbeView | undefined,
): RuleInstants => {
  const verdictMayTurnAt = canTrigger(externalProbe) ? nthSilence(leases, count) : undefined;
  return { verdictMayTurnAt, deadline: isTriggering(externalProbe) ? verdictMayTurnAt : undefined };
};

/** Returns the first instant at which some subset of two or more leases would be silent if none were renewed. */
export const earliestPossibleTrigger = (
  leases: readonly ObservedLease[],
  { externalProbe }: ProbeInput,
): RuleInstants => triggerDeadline(leases, 2, externalProbe);

/** Returns the first instant at which all candidates would be silent if none were renewed. */
export const triggerInstant = (candidates: readonly ObservedLease[], { externalProbe }: ProbeInput): RuleInstants =>
  triggerDeadline(candidates, candidates.length, externalProbe);

export interface CandidatesCase {
  readonly candidates: readonly ObservedLease[];
  readonly counts: LeaseCounts;
  /** Explanation of the counts, for people. */
  readonly reason: string;
  /** Monotonic instant at which the candidates reach the threshold if none is renewed. */
  readonly crossesAt: number | undefined;
}

/**
 * Judges two or more candidates below the threshold in mode `trigger`: scales down if the address is unreachable and no candidate has renewed for 15 s.
 * While none renews, held resources stay held. Undefined: the leases decide.
 */
export const judgeTrigger = (
  { candidates, counts, ...rest }: CandidatesCase,
  input: ProbeInput,
): Decision | undefined => {
  const { crossesAt } = rest;
  const { externalProbe, dependents } = input;
  if (!canTrigger(externalProbe) || candidates.some(({ silent }) => !silent)) return undefined;
  const reason = `${rest.reason}; no node has renewed for 15 s`;
  if (isTriggering(externalProbe)) {
    const crossedAt = Math.max(...candidates.map(({ silentAt }) => silentAt), externalProbe.since ?? input.now);
    const earlyByMs = Math.max(0, (crossesAt ?? crossedAt) - crossedAt);
    const verdict = { kind: 'unhealthy', crossedAt, earlyByMs } as const;
    return decisionOf(input, { verdict, reason: `${reason} and the outside path is broken`, counts });
  }
  if (!dependents.anyHeld) return undefined;
  // Perhaps not everything is held: expired leases may still require a scale-down.
  const observation = Math.max(crossesAt ?? Number.POSITIVE_INFINITY, input.now + minRetryDelayMs);
  return decisionOf(input, {
    verdict: { kind: 'skipped' },
    reason: `${reason}: left as it is`,
    counts,
    nextRunAt: Math.min(nextScheduledRun(input), observation),
  });
};

/** Vetoes a scale-down by leases while the address is reachable: the network is not why the kubelets are silent. Undefined: no veto. */
export const veto = (
  { reason, counts }: Pick<CandidatesCase, 'reason' | 'counts'>,
  input: ProbeInput,
): Decision | undefined => {
  if (!hasVeto(input.externalProbe)) return undefined;
  return decisionOf(input, {
    verdict: { kind: 'skipped' },
    reason: `${reason}, but the outside path is whole: nothing is scaled`,
    counts,
    verdictMayTurnAt: input.now,
  });
};
