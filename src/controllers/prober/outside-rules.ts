import { nextTick, soonestMs, decisionOf } from './decision.ts';
import type { WatchedLease } from './look.ts';
import { nthSmallest } from './nth-smallest.ts';
import type { ProbeInput, Counts, OutsideView, Decision } from './verdict.ts';

const canTrigger = (outside: OutsideView | undefined): outside is OutsideView => outside?.mode === 'trigger';
const isTriggering = (outside: OutsideView | undefined): outside is OutsideView =>
  canTrigger(outside) && outside.state === 'broken';

const nthSilence = (leases: readonly WatchedLease[], count: number): number | undefined =>
  nthSmallest(
    leases.map(({ silentAt }) => silentAt),
    count,
  );

/** Whether some subset of two or more leases is silent while a broken path asks for no more. */
export const couldTrigger = (leases: readonly WatchedLease[], { outside }: ProbeInput): boolean =>
  isTriggering(outside) && leases.filter(({ silent }) => silent).length >= 2;

/** What the outside path adds to a scale-up: when it would turn the verdict, by itself or in another state. */
export interface PathDeadline {
  readonly deadline?: number | undefined;
  readonly pathTurnsAt?: number | undefined;
}

/** `deadline` while the path is broken; `pathTurnsAt` whatever it is. `of`: the number of silent leases that it takes. */
const pathDeadline = (leases: readonly WatchedLease[], of: number, outside: OutsideView | undefined): PathDeadline => {
  const pathTurnsAt = canTrigger(outside) ? nthSilence(leases, of) : undefined;
  return { pathTurnsAt, deadline: isTriggering(outside) ? pathTurnsAt : undefined };
};

/** The first instant at which some subset of two or more leases would be silent if none were renewed. */
export const earliestPossibleTrigger = (leases: readonly WatchedLease[], { outside }: ProbeInput): PathDeadline =>
  pathDeadline(leases, 2, outside);

/** The first instant at which all candidates would be silent if none were renewed. */
export const triggerInstant = (candidates: readonly WatchedLease[], { outside }: ProbeInput): PathDeadline =>
  pathDeadline(candidates, candidates.length, outside);

export interface PathCase {
  readonly candidates: readonly WatchedLease[];
  readonly counts: Counts;
  /** Why the leases say what they say. */
  readonly reason: string;
  /** When they reach the threshold. */
  readonly crossesAt: number | undefined;
}

/**
 * Where two or more candidates have not expired, in trigger mode: a broken path scales down once none has renewed for 15 s, and what is
 * held stays held until one renews. Undefined: it is up to the leases.
 */
export const judgeSilence = ({ candidates, counts, ...rest }: PathCase, input: ProbeInput): Decision | undefined => {
  const { crossesAt } = rest;
  const { outside, dependents } = input;
  if (!canTrigger(outside) || candidates.some(({ silent }) => !silent)) return undefined;
  const reason = `${rest.reason}; no node has renewed for 15 s`;
  if (isTriggering(outside)) {
    const crossedAt = Math.max(...candidates.map(({ silentAt }) => silentAt), outside.since ?? input.now);
    const earlyByMs = Math.max(0, (crossesAt ?? crossedAt) - crossedAt);
    const verdict = { kind: 'scale-down', crossedAt, earlyByMs } as const;
    return decisionOf(input, { verdict, reason: `${reason} and the outside path is broken`, counts });
  }
  if (!dependents.anyHeld) return undefined;
  // Not everything need be held: the leases may yet say scale down.
  const look = Math.max(crossesAt ?? Number.POSITIVE_INFINITY, input.now + soonestMs);
  return decisionOf(input, {
    verdict: { kind: 'skip' },
    reason: `${reason}: left as it is`,
    counts,
    nextRunAt: Math.min(nextTick(input), look),
  });
};

/** Where the leases say scale down: kubelets that are silent on a whole path are so for another reason. Undefined: no objection. */
export const objection = (
  { reason, counts }: Pick<PathCase, 'reason' | 'counts'>,
  input: ProbeInput,
): Decision | undefined => {
  const { outside, now } = input;
  if (outside === undefined || outside.mode === 'observe' || outside.state !== 'whole') return undefined;
  return decisionOf(input, {
    verdict: { kind: 'skip' },
    reason: `${reason}, but the outside path is whole: nothing is scaled`,
    counts,
    pathTurnsAt: now,
  });
};
