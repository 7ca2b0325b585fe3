import { afterEach, describe, expect, it } from 'vitest';
import { capiKinds, simKinds } from '../../simulator/apiserver/index.ts';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import { capiSettings, gardenSettings } from '../../simulator/harness/settings.ts';
import { reachOutage } from '../../simulator/harness/support.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/gardener/scaling-annotations.ts';
import type { ProberSettings } from '../../src/prober/settings.ts';

// Names of resources that match two templates: `one-machine-controller-manager` could also belong to a cluster `one-machine`.

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
  it('does not make a resource of an existing cluster an orphan of a missing one', async () => {
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

  it('does not do so either when a reload changes one name to the other', async () => {
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

  it('does not keep orphans of a missing cluster from being restored, and changes nothing of an existing one', async () => {
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

  it('does not keep orphans of a deleted cluster from being restored: the longest resource name matches', async () => {
    create(short, 'controller-manager');
    await reachOutage(scenario, 'one');
    await scenario.stopProber();
    scenario.world.store.remove(capiKinds.Cluster, { namespace: 'fleet', name: 'one' });
    scenario.startProber();
    await scenario.clock.advance(180_000);
    expect(Object.values(counts())).toEqual([1, 1, 1]);
    const logged = scenario.log
      .filter(({ msg }) => msg.includes('no longer probing'))
      .map(({ namespace }) => namespace);
    expect(new Set(logged)).toEqual(new Set(['fleet/one']));
  });
});
