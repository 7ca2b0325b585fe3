import { describe, expect, it } from 'vitest';
import { type ShootOptions, buildCluster, buildShoot } from '../../../test/doubles/builders.ts';
import { type ShootView, decodeCluster } from '../../gardener/cluster.ts';
import { decideShootLifecycle, shootGone } from './lifecycle.ts';

const shoot = (options: ShootOptions = {}): ShootView => {
  const { shoot: decoded } = decodeCluster(buildCluster({ shoot: buildShoot(options) }), 'cluster');
  if (!decoded.ok) throw decoded.error;
  return decoded.value;
};

const operation = (type: string, state: string) => ({ lastOperation: { type, state } });
const deleting = { deletionTimestamp: '2026-11-21T06:00:00Z' };
const states = ['Pending', 'Processing', 'Succeeded', 'Error', 'Failed', 'Aborted', ''];

describe('a shoot is probed', () => {
  it.each(states)('while it is being reconciled, in any state: %j', (state) => {
    expect(decideShootLifecycle(shoot(operation('Reconcile', state))).kind).toBe('run');
  });

  it.each(['Create', 'Restore'].flatMap((type) => states.map((state) => [type, state] as const)))(
    'after %s only when that succeeded: %j',
    (type, state) => {
      const decision = decideShootLifecycle(shoot(operation(type, state)));
      expect(decision.kind).toBe(state === 'Succeeded' ? 'run' : 'leave');
    },
  );

  it.each(['Delete', 'Backup', '', 'reconcile'])('after no other operation: %j', (type) => {
    for (const state of states) expect(decideShootLifecycle(shoot(operation(type, state))).kind).toBe('leave');
  });

  it('with the settings of its Cluster', () => {
    const workers = ['a', { name: 'b', nodeConditions: ['Rusty'] }];
    expect(decideShootLifecycle(shoot({ workers, nodeMonitorGracePeriod: '2m' }))).toEqual({
      kind: 'run',
      settings: { poolConditions: new Map([['b', ['Rusty']]]), nodeMonitorGraceMs: 120_000 },
    });
    expect(decideShootLifecycle(shoot())).toEqual({ kind: 'run', settings: { poolConditions: new Map() } });
  });
});

describe('a shoot is left as it is', () => {
  it.each([
    ['waking up', { hibernated: true, hibernationEnabled: false }],
    ['waking up, without hibernation in its spec', { hibernated: true }],
    ['waking up, before any operation', { hibernated: true, lastOperation: null }],
    ['before its creation has begun', { lastOperation: null }],
    ['while it is created', operation('Create', 'Processing')],
  ] satisfies readonly [string, ShootOptions][])('%s', (_, options) => {
    expect(decideShootLifecycle(shoot(options)).kind).toBe('leave');
  });
});

describe('a prober is stopped', () => {
  it('and leaves its resources when the Cluster is gone', () => {
    expect(shootGone).toMatchObject({ kind: 'stop', releasePolicy: 'nothing' });
  });

  // In the order in which the reasons win, over one another and over any other state.
  const reasons: readonly (readonly [string, string, ShootOptions])[] = [
    ['deletion', 'release', deleting],
    ['hibernation', 'release', { hibernationEnabled: true }],
    ['migration', 'release', operation('Migrate', 'Processing')],
    ['no workers', 'restore', { workers: [] }],
  ];
  const states: readonly (readonly [string, ShootOptions])[] = [
    ['at any time', {}],
    ['while waking up', { hibernated: true }],
    ['before creation', { lastOperation: null }],
    ['while being created', operation('Create', 'Processing')],
    ['without workers', { workers: [] }],
  ];

  it.each(reasons)('%s: %s', (_, releasePolicy, why) => {
    for (const [when, state] of states) {
      expect(decideShootLifecycle(shoot({ ...state, ...why })), when).toMatchObject({ kind: 'stop', releasePolicy });
    }
  });

  it('with a reason in words', () => {
    for (const [, , options] of reasons) {
      expect(decideShootLifecycle(shoot(options))).toHaveProperty('reason', expect.stringMatching(/\w+ \w+/));
    }
  });
});
