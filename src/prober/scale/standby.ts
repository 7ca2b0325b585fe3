import type { LeaderWatch, Leadership } from '../../kubernetes/api/leadership.ts';
import type { Role } from './permission.ts';

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
