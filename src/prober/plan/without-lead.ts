import type { Verdict } from '../judge/verdict.ts';

/** What a process may send for its shoots. */
export interface Role {
  readonly leads: boolean;
  /** It observes while another leads, and sends a scale-down when that one cannot be at work. */
  readonly isHotStandby: boolean;
  /** As `LeaderWatch.silentMs`. */
  readonly leaderSilentMs?: number | undefined;
  readonly silenceLimitMs: number;
}

export const leader: Role = { leads: true, isHotStandby: false, silenceLimitMs: Number.POSITIVE_INFINITY };

/** Why a standby scales a shoot down itself. */
export interface WithoutLead {
  readonly cause: 'leader-silent' | 'nothing-written';
  /** For people. */
  readonly words: string;
}

/** A standby gives the leader this long after the threshold is crossed, and at least a second after its own verdict, which may come later than the leader's. */
export const leaderTimeMs = 3_000;
const sinceVerdictMs = 1_000;
/** A leader that is at work may have found since that the outage is over: an older verdict waits for the next. */
const besideLeaderMs = 5_000;

interface Situation {
  readonly now: number;
  readonly role: Role;
  /** The latest one. */
  readonly verdict: Verdict | undefined;
  readonly judgedAt: number;
  /** As `Decision.restsOnSeenRenewals`. */
  readonly restsOnSeenRenewals: boolean;
  readonly verdictMaxAgeMs: number;
  /** Something of the shoot carries the mark: the leader is at work, or was. */
  readonly anyHeld: boolean;
  /** Until then the leader, as long as it leads, knows better: it has restored what was held, or a pause kept it from writing. */
  readonly leftToLeaderUntil: number;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/**
 * Why a process that does not lead must send the scale-down of its own verdict; undefined: it must not, or not yet. Only on leases that it has itself watched: what it
 * found silent at its start may be what the leader, which has watched for longer, knows to be the trace of a downtime.
 */
export const whyWithoutLead = (situation: Situation): WithoutLead | undefined => {
  const { now, role, verdict, judgedAt } = situation;
  if (!role.isHotStandby || verdict?.kind !== 'unhealthy' || !situation.restsOnSeenRenewals) return undefined;
  const { leaderSilentMs, silenceLimitMs } = role;
  // Without a leader, or where this process may not read the Lease, nobody would restore.
  if (leaderSilentMs === undefined || now - judgedAt > situation.verdictMaxAgeMs) return undefined;
  if (leaderSilentMs >= silenceLimitMs) {
    return { cause: 'leader-silent', words: `the leader has not renewed for ${seconds(leaderSilentMs)}` };
  }
  const leadersTurnUntil = Math.max(verdict.crossedAt + leaderTimeMs, judgedAt + sinceVerdictMs);
  if (situation.anyHeld || now < leadersTurnUntil || now < situation.leftToLeaderUntil) return undefined;
  if (now - judgedAt > besideLeaderMs) return undefined;
  return {
    cause: 'nothing-written',
    words: `nothing is scaled ${seconds(now - verdict.crossedAt)} after the threshold`,
  };
};
