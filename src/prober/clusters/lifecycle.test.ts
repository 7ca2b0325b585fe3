import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShootOptions, buildCluster, buildShoot } from '../../../test/doubles/builders.ts';
import { type ShootView, decodeCluster } from '../../gardener/cluster.ts';
import { type ShootSettings, chooseSecret, decideShootLifecycle, sameSettings, shootGone } from './lifecycle.ts';

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

const settings = (pools: Readonly<Record<string, readonly string[]>>, nodeMonitorGraceMs?: number): ShootSettings => ({
  poolConditions: new Map(Object.entries(pools)),
  nodeMonitorGraceMs,
});

it.each([
  [true, settings({}, 40_000), settings({}, 40_000)],
  [true, settings({ a: ['X', 'Y'], b: ['Z'] }), settings({ b: ['Z'], a: ['Y', 'X'] })],
  [false, settings({}), settings({}, 40_000)],
  [false, settings({ a: ['X'] }), settings({})],
  [false, settings({ a: ['X'] }), settings({ a: ['X', 'Y'] })],
  [false, settings({ a: ['X'], b: ['Y'] }), settings({ a: ['Y'], b: ['X'] })],
  [false, settings({ a: ['X,Y'] }), settings({ a: ['X', 'Y'] })],
])('settings of a shoot are the same: %s, %o and %o', (is, a, b) => {
  expect([sameSettings(a, b), sameSettings(b, a)]).toEqual([is, is]);
});

const secret = (name: string, created: number, deleting = false) => ({ name, created, deleting, text: 'kubeconfig' });
const keyless = (name: string, created: number) => ({ ...secret(name, created), text: undefined });

it.each([
  ['the only one', [secret('a', 1)], 'a', []],
  ['the oldest', [secret('a', 2), secret('b', 1)], 'b', ['a']],
  ['the first by name of equally old ones', [secret('b', 1), secret('a', 1), secret('c', 1)], 'a', ['b', 'c']],
  ['one that is not being deleted', [secret('a', 1, true), secret('b', 2)], 'b', []],
  ['the oldest with a kubeconfig', [keyless('a', 1), secret('b', 2), secret('c', 3)], 'b', ['c']],
  ['one without a kubeconfig rather than one that is being deleted', [secret('a', 1, true), keyless('b', 2)], 'b', []],
  ['the oldest if none has a kubeconfig', [keyless('b', 2), keyless('a', 1)], 'a', []],
  ['one that is being deleted if all are', [secret('b', 2, true), secret('a', 1, true)], 'a', []],
] as const)('chooses %s', (_, secrets, name, others) => {
  expect(chooseSecret(secrets)).toEqual({ secret: secrets.find((one) => one.name === name), others });
});

it('chooses none if there is none', () => {
  expect(chooseSecret([])).toBeUndefined();
});

it('chooses the same Secret in any order of the list', () => {
  const secrets = fc.uniqueArray(
    fc.record({
      ...{ name: fc.constantFrom('a', 'b', 'c', 'd'), created: fc.nat(2), deleting: fc.boolean() },
      text: fc.constantFrom('kubeconfig', undefined),
    }),
    { selector: ({ name }) => name },
  );
  fc.assert(
    fc.property(
      secrets.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        expect(chooseSecret(shuffled)).toEqual(chooseSecret(all));
      },
    ),
  );
});
