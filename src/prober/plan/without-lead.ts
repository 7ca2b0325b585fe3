import type { Verdict } from '../judge/verdict.ts';

/** Role of a process, which decides what it may write. */
export interface Role {
  readonly leads: boolean;
  /** True if this process observes while another leads, and scales down when the leader cannot be at work. */
  readonly isHotStandby: boolean;
  /** See `LeaderWatch.silentMs`. */
  readonly leaderSilentMs?: number | undefined;
  readonly silenceLimitMs: number;
}

export const leader: Role = { leads: true, isHotStandby: false, silenceLimitMs: Number.POSITIVE_INFINITY };

/** Why this process scales down although it is not the leader. */
export interface WithoutLead {
  readonly cause: 'leader-silent' | 'nothing-written';
  /** Explanation for people. */
  readonly words: string;
}

/** A standby gives the leader this time after the threshold is crossed, and at least a second after its own verdict, which may be later than the leader's. */
export const leaderTimeMs = 3_000;
const sinceVerdictMs = 1_000;
/** Oldest verdict, in milliseconds, on which a standby acts while the leader renews: the leader may have found since that the outage is over. */
const besideLeaderMs = 5_000;

export interface WithoutLeadInput {
  readonly now: number;
  readonly role: Role;
  /** The latest verdict. */
  readonly verdict: Verdict | undefined;
  readonly judgedAt: number;
  /** See `Decision.hasObservedRenewals`. */
  readonly hasObservedRenewals: boolean;
  readonly verdictMaxAgeMs: number;
  /** True if some resource is up that a scale-down would scale down. */
  readonly isUnmet: boolean;
  /** When the number of held resources last changed: the leader is at work, or was. -Infinity if none is held. */
  readonly progressAt: number;
  /** Until this instant a leader that renews decides alone: it has restored the held resources, or a pause kept it from writing. */
  readonly leftToLeaderUntil: number;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/**
 * Returns why a process that does not lead must scale down on its own verdict; undefined if it must not, or not yet. The verdict must rest on leases that
 * this process has seen renewed. Leases that it found silent at its start may show a downtime that the leader, which has observed for longer, knows of.
 */
export const whyWithoutLead = (situation: WithoutLeadInput): WithoutLead | undefined => {
  const { now, role, verdict, judgedAt } = situation;
  if (!role.isHotStandby || verdict?.kind !== 'unhealthy' || !situation.hasObservedRenewals) return undefined;
  const { leaderSilentMs, silenceLimitMs } = role;
  // Without a leader nobody would restore, and a process that cannot read the Lease knows of none.
  if (leaderSilentMs === undefined || now - judgedAt > situation.verdictMaxAgeMs) return undefined;
  if (leaderSilentMs >= silenceLimitMs) {
    return { cause: 'leader-silent', words: `the leader has not renewed for ${seconds(leaderSilentMs)}` };
  }
  const leadersTurnUntil = Math.max(
    verdict.crossedAt + leaderTimeMs,
    judgedAt + sinceVerdictMs,
    situation.progressAt + leaderTimeMs,
  );
  if (!situation.isUnmet || now < leadersTurnUntil || now < situation.leftToLeaderUntil) return undefined;
  if (now - judgedAt > besideLeaderMs) return undefined;
  return {
    cause: 'nothing-written',
    words: `not everything is scaled down ${seconds(now - verdict.crossedAt)} after the threshold`,
  };
};
