import { decisionOf, nextTick, soonestMs } from './decision.ts';
import type { WatchedLease } from './observed-leases.ts';
import { nthSmallest } from './threshold.ts';
import type { Counts, Decision, ExternalProbeView, ProbeInput } from './verdict.ts';

const canTrigger = (externalProbe: ExternalProbeView | undefined): externalProbe is ExternalProbeView =>
  externalProbe?.mode === 'trigger';
const isTriggering = (externalProbe: ExternalProbeView | undefined): externalProbe is ExternalProbeView =>
  canTrigger(externalProbe) && externalProbe.state === 'unreachable';

const nthSilence = (leases: readonly WatchedLease[], count: number): number | undefined =>
  nthSmallest(
    leases.map(({ silentAt }) => silentAt),
    count,
  );

/** True if some subset of two or more leases is silent while an unreachable path asks for no more. */
export const couldTrigger = (leases: readonly WatchedLease[], { externalProbe }: ProbeInput): boolean =>
  isTriggering(externalProbe) && leases.filter(({ silent }) => silent).length >= 2;

/** What the external probe adds to a scale-up: when it would turn the verdict, by itself or in another state. */
export interface TriggerDeadline {
  readonly deadline?: number | undefined;
  readonly verdictMayTurnAt?: number | undefined;
}

/** `deadline` while the path is unreachable; `pathTurnsAt` whatever it is. `of`: the number of silent leases that it takes. */
const triggerDeadline = (
  leases: readonly WatchedLease[],
  of: number,
  externalProbe: ExternalProbeView | undefined,
): TriggerDeadline => {
  const verdictMayTurnAt = canTrigger(externalProbe) ? nthSilence(leases, of) : undefined;
  return { verdictMayTurnAt, deadline: isTriggering(externalProbe) ? verdictMayTurnAt : undefined };
};

/** The first instant at which some subset of two or more leases would be silent if none were renewed. */
export const earliestPossibleTrigger = (
  leases: readonly WatchedLease[],
  { externalProbe }: ProbeInput,
): TriggerDeadline => triggerDeadline(leases, 2, externalProbe);

/** The first instant at which all candidates would be silent if none were renewed. */
export const triggerInstant = (candidates: readonly WatchedLease[], { externalProbe }: ProbeInput): TriggerDeadline =>
  triggerDeadline(candidates, candidates.length, externalProbe);

export interface CandidatesCase {
  readonly candidates: readonly WatchedLease[];
  readonly counts: Counts;
  /** Why the leases say what they say. */
  readonly reason: string;
  /** When they reach the threshold. */
  readonly crossesAt: number | undefined;
}

/**
 * Where two or more candidates have not expired, in trigger mode: an unreachable path scales down once none has renewed for 15 s, and what is
 * held stays held until one renews. Undefined: it is up to the leases.
 */
export const judgeSilence = (
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

/** Where the leases say scale down: kubelets that are silent on a reachable path are so for another reason. Undefined: no objection. */
export const veto = (
  { reason, counts }: Pick<CandidatesCase, 'reason' | 'counts'>,
  input: ProbeInput,
): Decision | undefined => {
  const { externalProbe, now } = input;
  if (externalProbe === undefined || externalProbe.mode === 'observe' || externalProbe.state !== 'reachable') {
    return undefined;
  }
  return decisionOf(input, {
    verdict: { kind: 'skipped' },
    reason: `${reason}, but the outside path is whole: nothing is scaled`,
    counts,
    verdictMayTurnAt: now,
  });
};
