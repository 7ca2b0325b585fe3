import { afterEach, describe, expect, it } from 'vitest';
import { careSeedKinds, careSeedKinds as seedKinds } from '../../simulator/apiserver/care-kinds.ts';
import type { SimKind } from '../../simulator/apiserver/kind.ts';
import type { SimObject } from '../../simulator/apiserver/object.ts';
import type { SimStore } from '../../simulator/apiserver/store.ts';
import { gardenKinds } from '../../simulator/harness/care-kinds.ts';
import { CareFixture } from '../../simulator/harness/care-fixture.ts';
import { care, weeder } from '../../simulator/harness/replica.ts';
import { createScenario } from '../../simulator/harness/scenario.ts';
import { weederSettings } from '../../simulator/harness/weeder/fixture.ts';
import { careConfig } from '../../src/care/config.ts';
import { type FixtureObject, anyKey, readReference, referenceKinds } from './fixture.ts';
import { buildCluster, buildDeployment, buildLease, buildMachine, buildNode, buildShoot } from '../doubles/builders.ts';

// Checks that the simulator and the builders of tests write only keys that upstream's kinds have: a wrong key that is both written and read passes every
// other test.

const isObject = (value: unknown): value is FixtureObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Paths of keys in `value` that are not in `reference`. */
const unknownIn = (value: unknown, reference: unknown, path: string): readonly string[] => {
  if (Array.isArray(value)) {
    const [item] = Array.isArray(reference) ? (reference as readonly unknown[]) : [];
    return item === undefined ? [path] : value.flatMap((entry) => unknownIn(entry, item, `${path}[]`));
  }
  if (!isObject(value)) return [];
  if (!isObject(reference)) return [path];
  return Object.entries(value).flatMap(([key, entry]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(reference, key) ? key : anyKey;
    if (!Object.hasOwn(reference, known)) return [at];
    // A field that may contain anything has a string as its entry in the reference object.
    return known === anyKey && typeof reference[anyKey] === 'string' ? [] : unknownIn(entry, reference[known], at);
  });
};

const references = new Map<string, unknown>();

/** Reads the reference object of a kind; undefined if there is none. */
const referenceOf = (kind: string): unknown => {
  if (!references.has(kind)) {
    const name = [kind, `${kind}List`].find((known) => referenceKinds.includes(known));
    const object = name === undefined ? undefined : readReference(name).object;
    references.set(kind, name === kind ? object : (object?.items as readonly unknown[] | undefined)?.[0]);
  }
  return references.get(kind);
};

/** Finds the paths of keys that upstream's kind does not have. */
const unknownKeys = (object: { readonly kind: string }): readonly string[] => {
  const reference = referenceOf(object.kind);
  return reference === undefined ? [''] : unknownIn(object, reference, '').map((path) => `${object.kind} ${path}`);
};

/** A kind of the tests that represents kinds unknown to the program. */
const ownKind = 'Watermill';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface Written {
  readonly kinds: Set<string>;
  readonly unknown: Set<string>;
}

/** Records the kinds, and the keys unknown to upstream, of all current and future objects in a store. */
const watchKeys = (store: SimStore, kinds: readonly SimKind[], written: Written): void => {
  const note = (object: SimObject): void => {
    written.kinds.add(object.kind);
    for (const key of unknownKeys(object)) written.unknown.add(key);
  };
  for (const kind of kinds) {
    if (kind.kind === ownKind) continue;
    for (const object of store.list(kind)) note(object);
    store.subscribe(kind, ({ object }) => note(object));
  }
};

const nothingWritten = (): Written => ({ kinds: new Set(), unknown: new Set() });

const conditions = [{ typ: 'Ready' }];

it.each([
  [{ kind: 'Shoot', status: { isHibernated: true } }, ['Shoot status.isHibernated']],
  [{ kind: 'Node', status: { conditions } }, ['Node status.conditions[].typ']],
  [
    { kind: 'Deployment', spec: { template: { spec: { container: [] } } } },
    ['Deployment spec.template.spec.container'],
  ],
  [{ kind: 'Cluster', spec: { shoot: { spec: { worker: [] } } } }, ['Cluster spec.shoot.spec.worker']],
  [{ kind: 'Lease', spec: { renewTime: { seconds: 1 } } }, ['Lease spec.renewTime']],
  [{ kind: 'Shoot', status: { hibernated: true } }, []],
  [{ kind: 'Node', metadata: { labels: { any: 'x' } } }, []],
  [{ kind: 'Cluster', spec: { cloudProfile: { anything: { goes: 1 } } } }, []],
])('the check finds a key that upstream does not have: %j', (object, found) => {
  expect(unknownKeys(object)).toEqual(found);
});

describe('no object with a key that upstream does not have is written', () => {
  it('by the simulated seed and all components, through an outage', async () => {
    const shoots = [
      { name: 'a', controlPlanePods: true, careObjects: true },
      { name: 'b', nodeMonitorGraceMs: 40_000, nodes: 2 },
    ];
    const scenario = createScenario({ shoots, kinds: careSeedKinds });
    const { clock, world } = scenario;
    const written = nothingWritten();
    for (const { store } of [world, ...world.shoots]) watchKeys(store, careSeedKinds, written);
    const { settings } = careConfig.load('syncPeriod: 10s', { unknownFields: 'error' });
    if (settings === undefined) throw new Error('not valid');
    scenario.startProber();
    scenario.start(weeder, { settings: weederSettings });
    scenario.start(care({ tunnels: { connect: () => Promise.resolve() } }), { settings });
    stops.push(() => scenario.stop());
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(90_000);
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(written.kinds.size).toBeGreaterThan(20);
    expect([...written.unknown].toSorted()).toEqual([]);
  });

  it('by the seed, the garden and the shoots of the fixture for care', async () => {
    const rig = new CareFixture();
    stops.push(() => rig.stop());
    const written = nothingWritten();
    const { store } = rig.addShoot('a');
    watchKeys(rig.seed.store, seedKinds, written);
    watchKeys(rig.garden.store, gardenKinds, written);
    watchKeys(store, careSeedKinds, written);
    rig.start();
    await rig.clock.advance(120_000);
    expect([...written.kinds]).toEqual(expect.arrayContaining(['Shoot', 'Pod', 'Lease', 'Node']));
    expect([...written.unknown].toSorted()).toEqual([]);
  });

  it('by the builders of tests', () => {
    const shoot = buildShoot({
      deletionTimestamp: '2026-11-21T06:00:00Z',
      hibernationEnabled: true,
      hibernated: true,
      workers: ['a', { name: 'b', nodeConditions: ['Rusty'] }],
      nodeMonitorGracePeriod: '40s',
    });
    const objects = [
      buildCluster({ shoot }),
      buildNode({ name: 'n', conditions: [{ type: 'X', status: 'True', reason: 'R' }] }),
      buildLease({ name: 'n', renewTime: '2026-11-21T06:00:00.000000Z' }),
      buildMachine({ name: 'm' }),
      buildDeployment({ replicas: 2 }),
    ];
    expect(objects.flatMap(unknownKeys)).toEqual([]);
  });
});
