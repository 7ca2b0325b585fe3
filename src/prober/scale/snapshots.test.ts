import { describe, expect, it } from 'vitest';
import {
  meltdownProtectionAnnotation as active,
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import type { DependentSource, ServedKind } from '../../kubernetes/cache/watch-kind.ts';
import type { DependentResource } from '../config/settings.ts';
import { type ObjectInit, dependent, deployment, etcd, objectOf, scalableOf, stateOf } from '../testing/resources.ts';
import { createStaticStore } from '../testing/static-store.ts';
import { type LastResponse, isUp, responseAfter, takeSnapshot, viewDependents } from './snapshots.ts';

const kcm = deployment('kcm');
const main = etcd('main');
const served: ServedKind = { kind: 'served', resource: 'things' };

interface Given {
  /** Object that the watch shows. */
  readonly object?: ObjectInit | undefined;
  readonly last?: LastResponse | undefined;
  readonly served?: ServedKind;
  readonly synced?: boolean;
}

const snapshot = (ref: typeof kcm, given: Given) => {
  const source: DependentSource = {
    served: () => given.served ?? served,
    store: {
      ...createStaticStore((key) =>
        key === `shoot/${ref.name}` && given.object !== undefined ? scalableOf(given.object) : undefined,
      ),
      synced: given.synced ?? true,
    },
  };
  return takeSnapshot(dependent(ref), { cluster: 'shoot', source, last: given.last });
};

const read = (object: ObjectInit): Given => ({ last: { state: stateOf(object) } });

describe('a snapshot', () => {
  const up = objectOf(kcm, { replicas: 3, version: 9 });
  const down = objectOf(kcm, { replicas: 0, version: 10 });
  const etcdUp = objectOf(main, { replicas: 3, version: 9 });
  const shown = (object: ObjectInit, isAhead = false) => ({ kind: 'state', state: stateOf(object), isAhead });
  const unread = { kind: 'unknown', object: expect.objectContaining({ resourceVersion: '9' }) as unknown };
  const notServed = { kind: 'not-served', problem: 'x' } as const;

  it.each<readonly [what: string, ref: typeof kcm, given: Given, is: object]>([
    ['when the kind is not served', kcm, { object: up, served: notServed }, notServed],
    ['when discovery has not finished', kcm, { object: up, served: { kind: 'unknown' } }, { kind: 'unknown' }],
    ['when the watch has not begun', kcm, { object: up, synced: false }, { kind: 'unknown' }],
    ['when there is no such object', kcm, {}, { kind: 'absent' }],
    ['when there was one in the last response', kcm, read(up), { kind: 'absent' }],
    ['of a workload has the state that the watch shows', kcm, { object: up }, shown(up)],
    ['of a workload, also with an older response', kcm, { object: down, ...read(up) }, shown(down)],
    ['of a workload, also with the same response', kcm, { object: up, ...read(up) }, shown(up)],
    // A resource that we scaled down must not appear to be up.
    ['of a workload has a newer response', kcm, { object: up, ...read(down) }, shown(down, true)],
    ['of a custom resource that was not read', main, { object: etcdUp }, unread],
    ['of one that was read', main, { object: etcdUp, ...read(etcdUp) }, shown(etcdUp)],
    ['of one that was read before', main, { object: etcdUp, ...read({ ...etcdUp, version: 8 }) }, unread],
    [
      'of one that was written since',
      main,
      { object: etcdUp, ...read({ ...etcdUp, version: 10 }) },
      shown({ ...etcdUp, version: 10 }, true),
    ],
  ])('%s', (_, ref, given, is) => {
    expect(snapshot(ref, given)).toEqual(is);
  });

  it('is unknown without a source', () => {
    const context = { cluster: 'shoot', source: undefined, last: undefined };
    expect(takeSnapshot(dependent(kcm), context)).toEqual({ kind: 'unknown' });
  });
});

describe('dependents', () => {
  const leader = { isScaling: false, leads: true };
  const view = (ref: typeof kcm, given: Given & { isScaling?: boolean; leads?: boolean; optional?: boolean }) => {
    const { isScaling = false, leads = true, optional = false } = given;
    const seen = { resource: dependent(ref, { optional }), snapshot: snapshot(ref, given) };
    return viewDependents([seen], { isScaling, leads });
  };
  const object = (given: Partial<ObjectInit>) => ({ object: objectOf(kcm, given) });

  it.each([
    ['up, ready, unmarked', object({ replicas: 3 }), true],
    ['one of three ready', object({ replicas: 3, ready: 1 }), true],
    ['up, with ignore-scaling', object({ annotations: { [ignore]: 'true' } }), true],
    ['a scaling is in progress', { ...object({}), isScaling: true }, false],
    ['at 0', object({ replicas: 0 }), false],
    ['not ready', object({ ready: 0 }), false],
    ['not observed', object({ generation: 2, observedGeneration: 1 }), false],
    ['marked', object({ annotations: { [active]: '' } }), false],
    ['with a stored count', object({ annotations: { [replicas]: '3' } }), false],
    ['not synced', { ...object({}), synced: false }, false],
    ['not served yet', { ...object({}), served: { kind: 'unknown' } }, false],
    ['missing', {}, true],
    ['missing, optional', { optional: true }, true],
    ['not served', { served: { kind: 'not-served', problem: 'x' } }, true],
  ] satisfies readonly [string, Parameters<typeof view>[1], boolean][])(
    '%s: undisturbed %s',
    (_, given, undisturbed) => {
      expect(view(kcm, given).nothingToRestore).toBe(undisturbed);
    },
  );

  it.each([
    ['the leader reads it first', true, {}, false],
    ['a standby, which never reads it, relies on its annotations', false, {}, true],
    ['also where it is held', false, { [active]: '' }, false],
  ])('of a kind whose count no watch shows: %s', (_, leads, annotations, undisturbed) => {
    expect(view(main, { object: objectOf(main, { annotations }), leads }).nothingToRestore).toBe(undisturbed);
  });

  it('that are no longer configured disturb only if they are held', () => {
    const resource: DependentResource = { ...dependent(kcm, { optional: true }), restoreOnly: true };
    const isUndisturbed = (given: Partial<ObjectInit>) =>
      viewDependents([{ resource, snapshot: snapshot(kcm, object(given)) }], leader).nothingToRestore;
    expect(isUndisturbed({ replicas: 0, annotations: { [active]: '' } })).toBe(false);
    expect(isUndisturbed({ replicas: 0 })).toBe(true);
    expect(isUndisturbed({ annotations: { [replicas]: '3' } })).toBe(true);
  });

  it('are undisturbed only if all are', () => {
    const first = { resource: dependent(kcm), snapshot: snapshot(kcm, object({})) };
    const etcdOf = (given: Given) => ({ resource: dependent(main), snapshot: snapshot(main, given) });
    const shown = { object: objectOf(main) };
    expect(viewDependents([first, etcdOf(shown)], leader).nothingToRestore).toBe(false);
    const all = [first, etcdOf({ ...shown, ...read(objectOf(main)) })];
    expect(viewDependents(all, leader).nothingToRestore).toBe(true);
    expect(viewDependents([], leader)).toEqual({ nothingToRestore: true, held: 0, mayBeHeld: false });
  });

  it('are held if one carries the mark, which the watch shows for every kind', () => {
    expect(view(kcm, object({ annotations: { [active]: '' } })).held).toBe(1);
    expect(view(main, { object: objectOf(main, { annotations: { [active]: '' } }) }).held).toBe(1);
    expect(view(kcm, {}).held).toBe(0);
  });

  it.each([
    ['so they land', { [replicas]: '3' }, 0, true],
    ['unless another writer has scaled them up', { [replicas]: '3' }, 3, false],
    ['unless ignore-scaling keeps them down', { [replicas]: '3', [ignore]: 'true' }, 0, false],
  ])('are held at 0 with a stored count, as after ignore-scaling, %s', (_, annotations, count, is) => {
    const given = object({ annotations, replicas: count });
    expect(view(kcm, given)).toMatchObject({ held: is ? 1 : 0, mayBeHeld: is });
  });

  it('may be held until their watches have synced', () => {
    expect(view(kcm, { synced: false })).toMatchObject({ held: 0, mayBeHeld: true });
    expect(view(kcm, { served: { kind: 'not-served', problem: 'x' } }).mayBeHeld).toBe(false);
    expect(view(kcm, {}).mayBeHeld).toBe(false);
    expect(view(main, { object: objectOf(main) }).mayBeHeld).toBe(false);
  });
});

it.each([
  ['up', {}, dependent(main), true],
  ['held, perhaps by the leader', { [active]: '' }, dependent(main), false],
  ['left alone by ignore-scaling', { [ignore]: 'true' }, dependent(main), false],
  ['never scaled down', {}, dependent(main, { down: null }), false],
] as const)(
  'a custom resource whose count was not read is told by its annotations: %s',
  (_, annotations, resource, is) => {
    expect(isUp(resource, { kind: 'unknown', object: { resourceVersion: '1', annotations } })).toBe(is);
  },
);

describe('a simulated write of a dry run', () => {
  const real = objectOf(kcm, { replicas: 3, version: 9 });
  const isDown = {
    ...stateOf(real),
    specReplicas: 0,
    readyReplicas: 0,
    annotations: { [active]: '', [replicas]: '3' },
  };
  const last = responseAfter(undefined, isDown, stateOf(real));

  it('replaces the real state, at any version of it', () => {
    // A process that is no dry run may have written.
    for (const object of [real, { ...real, version: 12 }]) {
      const state = { ...isDown, resourceVersion: String(object.version) };
      expect(snapshot(kcm, { object, last })).toMatchObject({ state });
      expect(snapshot(kcm, { object, last: responseAfter(last, stateOf(object)) })).toMatchObject({ state });
    }
  });

  it.each([{ replicas: 2 }, { annotations: { [ignore]: 'true' } }])(
    'ends with the change %j of another writer',
    (change) => {
      const object = { ...real, ...change };
      expect(snapshot(kcm, { object, last })).toMatchObject({ state: stateOf(object) });
      expect(responseAfter(last, stateOf(object))).toEqual({ state: stateOf(object) });
    },
  );

  it('may follow another simulated write', () => {
    const restored = { ...isDown, specReplicas: 3, annotations: {} };
    const both = responseAfter(last, restored, isDown);
    expect(snapshot(kcm, { object: real, last: both })).toMatchObject({ state: { specReplicas: 3, annotations: {} } });
  });
});
