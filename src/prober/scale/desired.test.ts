import { describe, expect, it } from 'vitest';
import {
  type DesiredScaling,
  type Permission,
  type PermissionContext,
  type Role,
  desiredAtEnd,
  leader,
  permission,
  roleOf,
} from './desired.ts';

const now = 100_000;
const standby: Role = { leads: false, mayStandIn: true };
const bystander: Role = { leads: false, mayStandIn: false };

const desired = (direction: 'down' | 'up', given: Partial<DesiredScaling> = {}): DesiredScaling => ({
  direction,
  scope: 'all',
  reason: '',
  since: now - 5_000,
  judgedAt: now - 5_000,
  ...given,
});

interface Row {
  readonly role: Role;
  readonly given?: Partial<PermissionContext>;
  readonly desired?: Partial<DesiredScaling>;
  readonly is: Permission;
}

const permitted = (direction: 'down' | 'up', row: Row): Permission =>
  permission(desired(direction, row.desired), {
    now,
    role: row.role,
    probeIntervalMs: 10_000,
    ...row.given,
  });

describe('scaling down', () => {
  it.each<Row>([
    { role: leader, is: 'granted' },
    { role: leader, desired: { judgedAt: 0 }, is: 'granted' },
    { role: leader, desired: { isDoubtful: true }, is: 'later' },
    { role: leader, given: { pausedUntil: Number.POSITIVE_INFINITY }, is: 'refused' },
    { role: leader, given: { isClusterStale: true }, is: 'granted' },
    { role: leader, given: { pausedUntil: now + 1 }, is: 'refused' },
    { role: leader, given: { pausedUntil: now }, is: 'granted' },
    { role: standby, is: 'refused' },
    { role: standby, given: { unmetSince: now - 5_000 }, is: 'granted' },
    { role: standby, given: { unmetSince: now - 4_999 }, is: 'refused' },
    { role: standby, given: { unmetSince: now - 3_000 }, desired: { judgedAt: now - 3_000 }, is: 'granted' },
    { role: standby, given: { unmetSince: now - 2_999 }, desired: { judgedAt: now }, is: 'refused' },
    { role: standby, given: { unmetSince: now - 5_000 }, desired: { isDoubtful: true }, is: 'later' },
    { role: standby, given: { unmetSince: now - 5_000, pausedUntil: now + 1 }, is: 'refused' },
    { role: bystander, given: { unmetSince: now - 60_000 }, is: 'refused' },
  ])('by $role with $given and $desired: $is', (row) => {
    expect(permitted('down', row)).toBe(row.is);
  });
});

describe('restoring', () => {
  it.each<Row>([
    { role: leader, is: 'granted' },
    { role: leader, given: { pausedUntil: Number.POSITIVE_INFINITY }, is: 'granted' },
    { role: leader, desired: { isDoubtful: true }, is: 'later' },
    { role: leader, desired: { judgedAt: now - 20_000 }, is: 'granted' },
    { role: leader, desired: { judgedAt: now - 20_001 }, is: 'later' },
    { role: leader, given: { isClusterStale: true }, is: 'later' },
    { role: leader, desired: { judgedAt: 0, scope: 'held' }, is: 'granted' },
    { role: leader, desired: { scope: 'held' }, given: { isClusterStale: true }, is: 'granted' },
    { role: standby, given: { unmetSince: now - 60_000 }, is: 'refused' },
    { role: standby, desired: { scope: 'held' }, is: 'refused' },
    { role: bystander, is: 'refused' },
  ])('by $role with $given and $desired: $is', (row) => {
    expect(permitted('up', row)).toBe(row.is);
  });
});

it.each([
  ['restore', 'up'],
  ['release', 'release'],
  ['nothing', undefined],
] as const)('the last scaling, which no verdict follows: %s, %s', (releasePolicy, direction) => {
  const last = { direction, scope: 'held', reason: 'r', since: now, judgedAt: now };
  expect(desiredAtEnd({ releasePolicy, reason: 'r' }, now)).toEqual(direction && last);
});

describe('the role of a process', () => {
  it.each([
    { standby: 'hot', mayWrite: true, knowsLeader: false, role: leader },
    { standby: 'hot', mayWrite: false, knowsLeader: true, role: standby },
    { standby: 'hot', mayWrite: false, knowsLeader: false, role: bystander },
    { standby: 'hot', mayWrite: false, knowsLeader: undefined, role: bystander },
    { standby: 'cold', mayWrite: false, knowsLeader: true, role: bystander },
  ] as const)('$standby, may write: $mayWrite, knows the leader: $knowsLeader', (given) => {
    const { knowsLeader } = given;
    const role = roleOf({
      standby: given.standby,
      leadership: { mayWrite: () => given.mayWrite },
      leaderWatch:
        knowsLeader === undefined ? undefined : { knowsLeader: () => knowsLeader, onLead: () => () => undefined },
    });
    expect(role).toEqual(given.role);
  });
});
