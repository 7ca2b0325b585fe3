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

/** A Cluster as gardenlet writes it: the JSON keys are those of `ShootStatus` in gardener's types_shoot.go. */
const wakingUp = {
  apiVersion: 'extensions.gardener.cloud/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'shoot--dev--one' },
  spec: {
    shoot: {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { name: 'one', namespace: 'garden-dev' },
      spec: { hibernation: { enabled: false }, provider: { type: 'local', workers: [{ name: 'worker' }] } },
      status: {
        hibernated: true,
        lastOperation: { type: 'Reconcile', state: 'Processing', progress: 20, lastUpdateTime: '2026-11-21T06:00:00Z' },
      },
    },
  },
};

describe('a shoot is left as it is', () => {
  it('waking up, as gardenlet writes it', () => {
    const { shoot: decoded } = decodeCluster(wakingUp, 'cluster');
    expect(decoded.ok && decideShootLifecycle(decoded.value)).toEqual({
      kind: 'leave',
      reason: 'the shoot is waking up',
    });
  });

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

  it.each([
    ['deletion', 'release', deleting],
    ['hibernation', 'release', { hibernationEnabled: true }],
    ['hibernation, asleep', 'release', { hibernationEnabled: true, hibernated: true }],
    ['migration', 'release', operation('Migrate', 'Processing')],
    ['migration, over', 'release', operation('Migrate', 'Succeeded')],
    ['no workers', 'restore', { workers: [] }],
    // Each of these reasons wins over any other state.
    ['deletion of a shoot without workers', 'release', { ...deleting, workers: [] }],
    ['deletion while waking up', 'release', { ...deleting, hibernated: true }],
    ['deletion before creation', 'release', { ...deleting, lastOperation: null }],
    ['deletion in hibernation', 'release', { ...deleting, hibernationEnabled: true, hibernated: true }],
    ['deletion during migration', 'release', { ...deleting, ...operation('Migrate', 'Error') }],
    ['hibernation of a shoot without workers', 'release', { hibernationEnabled: true, workers: [] }],
    ['hibernation before creation', 'release', { hibernationEnabled: true, lastOperation: null }],
    ['migration without workers', 'release', { ...operation('Migrate', 'Processing'), workers: [] }],
    ['migration while waking up', 'release', { ...operation('Migrate', 'Processing'), hibernated: true }],
    ['no workers while waking up', 'restore', { workers: [], hibernated: true }],
    ['no workers before creation', 'restore', { workers: [], lastOperation: null }],
    ['no workers while being created', 'restore', { ...operation('Create', 'Processing'), workers: [] }],
  ] satisfies readonly [string, string, ShootOptions][])('%s: %s', (_, releasePolicy, options) => {
    expect(decideShootLifecycle(shoot(options))).toMatchObject({ kind: 'stop', releasePolicy });
  });

  it('with a reason in words', () => {
    for (const options of [deleting, { hibernationEnabled: true }, operation('Migrate', ''), { workers: [] }]) {
      expect(decideShootLifecycle(shoot(options))).toHaveProperty('reason', expect.stringMatching(/\w+ \w+/));
    }
  });
});
