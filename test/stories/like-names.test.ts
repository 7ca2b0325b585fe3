import { afterEach, describe, expect, it } from 'vitest';
import { capiKinds, simKinds } from '../../simulator/apiserver/index.ts';
import { type Scenario, createScenario } from '../../simulator/harness/harness.ts';
import { capiSettings, gardenSettings } from '../../simulator/harness/settings.ts';
import { reachOutage } from '../../simulator/harness/support.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/gardener/scaling-annotations.ts';
import type { ProberSettings } from '../../src/prober/settings.ts';

// Two names of resources, of which one begins and ends like the other: `one-machine-controller-manager` would do for a cluster `one-machine` as well.

const named = (kcm: string): ProberSettings => {
  const settings = capiSettings(gardenSettings);
  const [first, ...others] = settings.dependentResources;
  return { ...settings, dependentResources: [{ ...first!, ref: { ...first!.ref, name: kcm } }, ...others] };
};
const short = named('{{ cluster }}-controller-manager');
const long = named('{{ cluster }}-kube-controller-manager');

let scenario: Scenario;
afterEach(() => scenario.stop());

const create = (settings: ProberSettings, kcm: string, clusters: readonly string[] = ['one']): void => {
  const place = (cluster: string) => ({
    ...{ namespace: 'fleet', cluster },
    names: { 'kube-controller-manager': `${cluster}-${kcm}` },
  });
  const shoots = clusters.map((name) => ({ name, place: place(name) }));
  scenario = createScenario({ source: 'cluster-api', shoots, settings });
};
const counts = () =>
  Object.fromEntries(
    scenario.world.store
      .list(simKinds.Deployment, 'fleet')
      .filter(({ metadata }) => !metadata.name.includes('apiserver'))
      .map(({ metadata, spec }) => [metadata.name, (spec as { readonly replicas: number }).replicas]),
  );
const ups = () => scenario.changes.filter(({ from, to }) => from < to);

describe('a name that begins and ends like another', () => {
  it('makes nothing of a cluster that is there an orphan of one that is not', async () => {
    create(short, 'controller-manager');
    await reachOutage(scenario, 'one');
    const held = { 'one-controller-manager': 0, 'one-machine-controller-manager': 0, 'one-cluster-autoscaler': 0 };
    expect(counts()).toEqual(held);
    await scenario.clock.advance(60_000);
    expect(ups()).toEqual([]);
    await scenario.stopProber();
    scenario.startProber();
    await scenario.clock.advance(60_000);
    expect([counts(), ups()]).toEqual([held, []]);
    scenario.world.shoot('one').restoreKubelets();
    await scenario.clock.advance(120_000);
    expect(Object.values(counts())).toEqual([1, 1, 1]);
  });

  it('does so neither when a reload changes one name into the other', async () => {
    create(short, 'kube-controller-manager');
    scenario.startProber();
    await scenario.clock.advance(60_000);
    scenario.reload(long);
    await scenario.clock.advance(10_000);
    scenario.world.shoot('one').cutKubelets();
    await scenario.clock.advance(120_000);
    expect(Object.values(counts())).toEqual([0, 0, 0]);
    expect(ups()).toEqual([]);
  });

  it('restores what a cluster that is gone has left, and nothing of the one that is there', async () => {
    create(short, 'controller-manager');
    await reachOutage(scenario, 'one');
    const orphan = { namespace: 'fleet', name: 'one-machine-cluster-autoscaler' };
    const annotations = { [meltdownProtectionAnnotation]: '', [replicasAnnotation]: '2' };
    const { store } = scenario.world;
    const like = store.get(simKinds.Deployment, { ...orphan, name: 'one-cluster-autoscaler' });
    store.put(simKinds.Deployment, { ...like!, metadata: { ...orphan, annotations } });
    await scenario.clock.advance(120_000);
    expect(counts()).toEqual({
      'one-controller-manager': 0,
      'one-machine-controller-manager': 0,
      'one-cluster-autoscaler': 0,
      [orphan.name]: 2,
    });
  });

  it('restores the orphans of a cluster that is gone, by the longest name', async () => {
    create(short, 'controller-manager');
    await reachOutage(scenario, 'one');
    await scenario.stopProber();
    scenario.world.store.remove(capiKinds.Cluster, { namespace: 'fleet', name: 'one' });
    scenario.startProber();
    await scenario.clock.advance(180_000);
    expect(Object.values(counts())).toEqual([1, 1, 1]);
    const told = scenario.log.filter(({ msg }) => msg.includes('no longer probing')).map(({ namespace }) => namespace);
    expect(new Set(told)).toEqual(new Set(['fleet/one']));
  });
});
