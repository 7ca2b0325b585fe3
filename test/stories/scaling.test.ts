import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import {
  allHeld,
  allUp,
  changeLines,
  editDeployment,
  editShoot,
  reachOutage,
  stateOf,
} from '../../simulator/harness/support.ts';
import type { RequestFault } from '../../simulator/network/faults.ts';
import type { DependentResource } from '../../src/prober/index.ts';
import { statusSchema } from '../../src/status/state/schema.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;

const create = (changes: (resource: DependentResource) => Partial<DependentResource> = () => ({})): Scenario => {
  const dependentResources = gardenSettings.dependentResources.map((one) => ({ ...one, ...changes(one) }));
  scenario = createStory({ settings: { dependentResources } });
  return scenario;
};

/** Applies a fault to the writes to one Deployment; undefined ends it. */
const hinder = (name: string, fault?: RequestFault): void =>
  scenario.seedConnection.setFaults(({ method, path }) =>
    method === 'PATCH' && path.includes(`/deployments/${name}`) ? fault : undefined,
  );
const mcm = 'machine-controller-manager';
const kcm = 'kube-controller-manager';

it.each<[string, RequestFault]>([
  ['refused', { status: 403 }],
  ['answered 500', { status: 500 }],
  ['answered 409', { status: 409 }],
  ['answered late', { delayMs: 4_500 }],
  ['not answered', 'drop'],
])('MCM, whose writes are %s, keeps KCM no more than 3 s from being scaled down', async (_, fault) => {
  create();
  hinder(mcm, fault);
  await reachOutage(scenario);
  const [ca, ...others] = scenario.changes;
  expect(ca?.name).toBe('cluster-autoscaler');
  const kcmDown = others.find(({ name, to }) => name === kcm && to === 0);
  expect((kcmDown?.at ?? Number.POSITIVE_INFINITY) - (ca?.at ?? 0)).toBeLessThanOrEqual(3_100);
  expect(scenario.world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
});

it('MCM is not restored while KCM cannot be, and follows as soon as it can, without delay after an outage in between', async () => {
  create();
  await reachOutage(scenario);
  const { clock, world, changes, log } = scenario;
  hinder(kcm, { status: 403 });
  world.shoot('a').restoreKubelets();
  await clock.advance(120_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  world.shoot('a').cutKubelets();
  await clock.advance(60_000);
  hinder(kcm);
  world.shoot('a').restoreKubelets();
  await clock.advance(90_000);
  expect(changeLines(changes.slice(3))).toEqual(['kcm 0->1', 'mcm 0->1', 'ca 0->1']);
  expect(log.filter(({ msg }) => msg.startsWith('flapping'))).toEqual([]);
});

it('what is at 0 is told as losing nodes if its pods still run after its timeout', async () => {
  scenario = createStory({ timing: { observeMs: 100_000 } });
  await reachOutage(scenario);
  await scenario.clock.advance(30_000);
  const why = expect.stringContaining('but their pods still run') as string;
  expect(scenario.status()).toMatchObject({ shoots: [{ state: 'losing nodes', why }] });
  await scenario.clock.advance(60_000);
  expect(scenario.status()).toMatchObject({ shoots: [{ state: 'held' }] });
});

it('an outage that ends while a scale-down is under way leaves up what is not down, and restores the rest', async () => {
  create(({ ref, scaleDown }) => (ref.name === kcm ? { scaleDown: { ...scaleDown!, initialDelayMs: 90_000 } } : {}));
  await reachOutage(scenario);
  scenario.world.shoot('a').restoreKubelets();
  await scenario.clock.advance(90_000);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
  expect(scenario.changes.filter(({ name }) => name === kcm)).toEqual([]);
});

it('a scale-down whose response comes after the outage is undone at once', async () => {
  create();
  hinder(kcm, { delayMs: 40_000 });
  await reachOutage(scenario);
  hinder(kcm);
  scenario.world.shoot('a').restoreKubelets();
  await scenario.clock.advance(150_000);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
});

it('another writer that keeps scaling KCM up is undone each time, for as long as the outage lasts', async () => {
  create();
  await reachOutage(scenario);
  const marginOf = async () => {
    const line = /^dwd_prober_grace_left_seconds\{.*$/m.exec(await scenario.meter().metricsText());
    return [line?.[0], statusSchema.parse(scenario.status()).shoots.map(({ marginMs }) => marginMs)];
  };
  const margin = await marginOf();
  for (let count = 0; count < 8; count += 1) {
    editDeployment(scenario, { shoot: 'a', name: 'kcm' }, (object) => ({
      ...object,
      spec: { ...(object.spec as object), replicas: 2 },
    }));
    await scenario.clock.advance(2_500);
    expect(stateOf(scenario, 'a')).toContain('kcm 0 replicas=2 active=');
  }
  expect(await marginOf()).toEqual(margin);
  expect(scenario.world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
});

it('a hibernation in the middle of a restoration stops it', async () => {
  create();
  await reachOutage(scenario);
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, provider: { workers: [] } } }));
  await scenario.clock.runUntil(() => stateOf(scenario, 'a').includes('kcm 1'));
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, hibernation: { enabled: true } } }));
  await scenario.clock.advance(120_000);
  expect(stateOf(scenario, 'a')).toEqual(['ca 0 replicas=1', 'kcm 1', 'mcm 0 replicas=1']);
});

it('resources at 0 that the prober does not hold stay there at the end of probing', async () => {
  create();
  await reachOutage(scenario);
  const { store } = scenario.world;
  const ref = { namespace: scenario.world.shoot('a').namespace, name: mcm };
  store.patch(simKinds.Deployment, ref, ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, annotations: {} },
  }));
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, provider: { workers: [] } } }));
  await scenario.clock.advance(120_000);
  expect(stateOf(scenario, 'a')).toEqual(['ca 1', 'kcm 1', 'mcm 0']);
});
