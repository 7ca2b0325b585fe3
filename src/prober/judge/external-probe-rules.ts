import { decisionOf, nextTick, soonestMs } from './decision.ts';
import type { ObservedLease } from './observed-leases.ts';
import { nthSmallest } from './threshold.ts';
import type { Decision } from './decision.ts';
import type { ExternalProbeView, ProbeInput } from './probe-input.ts';
import type { LeaseCounts } from './verdict.ts';

const canTrigger = (externalProbe: ExternalProbeView | undefined): externalProbe is ExternalProbeView =>
  externalProbe?.mode === 'trigger';
/** Kubelets that are silent on a reachable path are so for another reason. */
export const isPathReachable = (externalProbe: ExternalProbeView | undefined): boolean =>
  externalProbe !== undefined && externalProbe.mode !== 'observe' && externalProbe.state === 'reachable';
const isTriggering = (externalProbe: ExternalProbeView | undefined): externalProbe is ExternalProbeView =>
  canTrigger(externalProbe) && externalProbe.state === 'unreachable';

const nthSilence = (leases: readonly ObservedLease[], count: number): number | undefined =>
  nthSmallest(
    leases.map(({ silentAt }) => silentAt),
    count,
  );

/** True if the unreachable address could scale down (mode `trigger`): two or more leases are silent, and they may be all candidates. */
export const couldTrigger = (leases: readonly ObservedLease[], { externalProbe }: ProbeInput): boolean =>
  isTriggering(externalProbe) && leases.filter(({ silent }) => silent).length >= 2;

/** When a rule would turn a healthy verdict to unhealthy if no lease were renewed. Monotonic milliseconds. */
export interface TurnInstants {
  /** With the external probe in the state that it has now; absent: not in this state. */
  readonly deadline?: number | undefined;
  /** If the external probe had another state by then; absent: in no other. */
  readonly verdictMayTurnAt?: number | undefined;
}

/** When another state of the external probe would turn the verdict, for one reason or the other. */
export const sooner = (a: TurnInstants, b: TurnInstants): number | undefined => {
  const at = Math.min(...[a.verdictMayTurnAt, b.verdictMayTurnAt].filter((instant) => instant !== undefined));
  return Number.isFinite(at) ? at : undefined;
};

/** `count`: the number of silent leases that it takes. */
const triggerDeadline = (
  leases: readonly ObservedLease[],
  count: number,
  externalProbe: ExternalProbeView | undefined,
): TurnInstants => {
  const verdictMayTurnAt = canTrigger(externalProbe) ? nthSilence(leases, count) : undefined;
  return { verdictMayTurnAt, deadline: isTriggering(externalProbe) ? verdictMayTurnAt : undefined };
};

/** The first instant at which some subset of two or more leases would be silent if none were renewed. */
export const earliestPossibleTrigger = (
  leases: readonly ObservedLease[],
  { externalProbe }: ProbeInput,
): TurnInstants => triggerDeadline(leases, 2, externalProbe);

/** The first instant at which all candidates would be silent if none were renewed. */
export const triggerInstant = (candidates: readonly ObservedLease[], { externalProbe }: ProbeInput): TurnInstants =>
  triggerDeadline(candidates, candidates.length, externalProbe);

export interface CandidatesCase {
  readonly candidates: readonly ObservedLease[];
  readonly counts: LeaseCounts;
  /** Why the leases say what they say. */
  readonly reason: string;
  /** When they reach the threshold. */
  readonly crossesAt: number | undefined;
}

/**
 * For two or more candidates below the threshold, in trigger mode: while the address is unreachable, scale down once no candidate has renewed for 15 s;
 * what is held stays held until one renews. Undefined: the leases decide.
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
  // Not everything need be held: the leases may yet say scale down.
  const observation = Math.max(crossesAt ?? Number.POSITIVE_INFINITY, input.now + soonestMs);
  return decisionOf(input, {
    verdict: { kind: 'skipped' },
    reason: `${reason}: left as it is`,
    counts,
    nextRunAt: Math.min(nextTick(input), observation),
  });
};

/** Where the leases say scale down: if the address is reachable, the network is not why the kubelets are silent. Undefined: no veto. */
export const veto = (
  { reason, counts }: Pick<CandidatesCase, 'reason' | 'counts'>,
  input: ProbeInput,
): Decision | undefined => {
  if (!isPathReachable(input.externalProbe)) return undefined;
  return decisionOf(input, {
    verdict: { kind: 'skipped' },
    reason: `${reason}, but the outside path is whole: nothing is scaled`,
    counts,
    verdictMayTurnAt: input.now,
  });
};
