import type { ProbingEnd } from '../clusters/lifecycle.ts';
import type { Verdict } from '../judge/judgement.ts';
import type { LeaderWatch, Leadership } from '../../kubernetes/api/leadership.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';

/** What the resources of a shoot should be: by its latest verdict, or at the end of probing. Instants are monotonic milliseconds. */
export interface DesiredScaling {
  readonly direction: Direction;
  /** `held`: at the end of probing, which no verdict follows. */
  readonly scope: ScalingScope;
  /** The verdict in words and numbers, or why probing ends. */
  readonly reason: string;
  /** When it became so: a scale-down when the threshold was crossed. */
  readonly since: number;
  /** When the verdict was reached. */
  readonly judgedAt: number;
  /** True if the process was suspended since: it may no longer be right. */
  readonly isDoubtful?: boolean;
  /** True once a scaling has begun or gone on for it, or there was nothing to do. */
  readonly isTried?: boolean;
}

/** Returns the scaling that a verdict requires; undefined if the verdict leaves it as it is. */
export const desiredBy = (
  verdict: Verdict,
  given: Pick<DesiredScaling, 'reason' | 'judgedAt'>,
): DesiredScaling | undefined => {
  switch (verdict.kind) {
    case 'unhealthy':
      return { direction: 'down', scope: 'all', since: verdict.crossedAt, ...given };
    case 'healthy':
      return { direction: 'up', scope: 'all', since: given.judgedAt, ...given };
    case 'skipped':
    case 'confirming':
    case 'landing':
    case 'failed':
      return undefined;
  }
};

/** Returns the last scaling of a shoot; undefined if its resources are left as they are. */
export const desiredAtEnd = ({ releasePolicy, reason }: ProbingEnd, now: number): DesiredScaling | undefined =>
  releasePolicy === 'nothing'
    ? undefined
    : {
        direction: releasePolicy === 'restore' ? 'up' : 'release',
        scope: 'held',
        reason,
        since: now,
        judgedAt: now,
      };

/** Role of a process among the replicas. */
export interface Role {
  readonly leads: boolean;
  /** True if this process, while another leads, may scale down what the leader leaves up. */
  readonly mayStandIn: boolean;
}

export const leader: Role = { leads: true, mayStandIn: false };

export interface PermissionContext {
  readonly now: number;
  readonly role: Role;
  readonly probeIntervalMs: number;
  /** Monotonic end of the pause, before which nothing is scaled down; Infinity if it has none. Absent without a pause. */
  readonly pausedUntil?: number | undefined;
  /** Instant from which on, as far as this process knows, a resource is up that an outage requires to be down. */
  readonly unmetSince?: number | undefined;
  /** True while the watch of the Clusters is interrupted for longer than it may be silent: a hibernation or a deletion may be unseen. */
  readonly isClusterStale?: boolean | undefined;
}

/** `granted`: write now. `later`: what is under way waits, and nothing new starts. `refused`: not the task of this process, or not wanted. */
export type Permission = 'granted' | 'later' | 'refused';

/** The leader has this time, in milliseconds, to scale down before a standby does. */
export const leaderTimeMs = 3_000;

/** True while a pause forbids scale-downs. Held resources are restored nevertheless. */
export const isPaused = ({ now, pausedUntil }: Pick<PermissionContext, 'now' | 'pausedUntil'>): boolean =>
  pausedUntil !== undefined && now < pausedUntil;

export const isRecent = (
  { judgedAt }: DesiredScaling,
  context: Pick<PermissionContext, 'now' | 'probeIntervalMs'>,
): boolean => context.now - judgedAt <= 2 * context.probeIntervalMs;

/**
 * Returns whether this process may carry out the desired scaling now. It is asked at each step, and again at the moment of sending. Only the leader restores:
 * machine-controller-manager, started on an old verdict, would replace healthy machines, and a shoot that is hibernated would be scaled up against its owner.
 */
export const permission = (desired: DesiredScaling, context: PermissionContext): Permission => {
  const { now, role, unmetSince } = context;
  if (desired.direction === 'down') {
    // What came up after its verdict, the leader may have restored: a standby judges anew.
    const isUnmet = unmetSince !== undefined && unmetSince <= desired.judgedAt && now >= unmetSince + leaderTimeMs;
    const standsIn = role.mayStandIn && isUnmet;
    if (isPaused(context) || !(role.leads || standsIn)) return 'refused';
    return desired.isDoubtful === true ? 'later' : 'granted';
  }
  if (!role.leads) return 'refused';
  if (desired.scope === 'held') return 'granted';
  const isOld = desired.isDoubtful === true || context.isClusterStale === true || !isRecent(desired, context);
  return isOld ? 'later' : 'granted';
};

/**
 * Behaviour of a replica while another leads: `hot` observes, and scales down what the leader leaves up; `cold` waits, as the Go program does, and begins to
 * observe when it leads.
 */
export type Standby = 'hot' | 'cold';

export interface RoleSources {
  readonly standby: Standby;
  readonly leadership: Leadership;
  /** Absent without leader election. */
  readonly leaderWatch?: LeaderWatch | undefined;
}

/**
 * Returns which writes this process may send now. Beside the Go program nobody stands in: it restores in mid-outage what it has not scaled down itself. Nor does
 * a process that cannot read the Lease: it can never lead, and so never restore.
 */
export const roleOf = ({ standby, leadership, leaderWatch }: RoleSources): Role => ({
  leads: leadership.mayWrite(),
  mayStandIn: standby === 'hot' && leaderWatch?.knowsLeader() === true,
});
