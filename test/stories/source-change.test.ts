import { afterEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, stateOf } from '../../simulator/harness/support.ts';
import type { ProberSettings } from '../../src/prober/config/settings.ts';

// A Gardener seed in which shoot `own` also has a Secret of another name, and reloads that change the cluster source.

const ownSecret = 'own-kubeconfig';
const bySecret: Partial<ProberSettings> = {
  clusterSource: { key: 'value' },
  kubeConfigSecretName: ownSecret,
};

let scenario: Scenario;
afterEach(() => scenario.stop());

const create = (): Scenario => {
  scenario = createScenario({ shoots: [{ name: 'own' }, { name: 'other' }] });
  const { api, namespace } = scenario.world.shoot('own');
  const value = Buffer.from(api.kubeconfig()).toString('base64');
  scenario.world.store.put(simKinds.Secret, { metadata: { namespace, name: ownSecret }, data: { value } });
  return scenario;
};

const removeCluster = ({ world }: Scenario, shoot: string): void => {
  world.store.remove(simKinds.Cluster, { name: world.shoot(shoot).namespace });
};

const holdAll = async ({ clock, world }: Scenario): Promise<void> => {
  await clock.advance(60_000);
  for (const shoot of world.shoots) shoot.cutKubelets();
  await clock.advance(60_000);
};

describe('a change of the cluster source while clusters are held', () => {
  it('from secret to gardener restores clusters unknown to Gardener, and continues with the rest', async () => {
    const { clock } = create();
    removeCluster(scenario, 'own');
    scenario.startProber(bySecret);
    // Without the Cluster, the simulation does not know the kubelets, so their names are passed.
    await clock.advance(60_000);
    const { world } = scenario;
    world.shoot('own').cutKubelets(
      world
        .shoot('own')
        .store.list(simKinds.Node)
        .map(({ metadata }) => metadata.name),
    );
    await clock.advance(60_000);
    expect(stateOf(scenario, 'own')).toEqual(allHeld);
    scenario.reload({});
    await clock.advance(120_000);
    expect(stateOf(scenario, 'own')).toEqual(allUp);
    expect(stateOf(scenario, 'other')).toEqual(allUp);
  });

  it('from gardener to secret restores clusters without such a Secret, and continues with the rest', async () => {
    const { clock } = create();
    scenario.startProber();
    await holdAll(scenario);
    expect([stateOf(scenario, 'own'), stateOf(scenario, 'other')]).toEqual([allHeld, allHeld]);
    scenario.reload(bySecret);
    await clock.advance(120_000);
    expect([stateOf(scenario, 'own'), stateOf(scenario, 'other')]).toEqual([allHeld, allUp]);
    scenario.world.shoot('own').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'own')).toEqual(allUp);
  });

  it('and back restores no cluster that both sources find', async () => {
    const { clock } = create();
    scenario.startProber(bySecret);
    await holdAll(scenario);
    scenario.reload({});
    await clock.advance(60_000);
    scenario.reload(bySecret);
    await clock.advance(60_000);
    expect(stateOf(scenario, 'own')).toEqual(allHeld);
  });

  it('does not restore a cluster that Gardener removes after the source gardener has found it', async () => {
    const { clock } = create();
    scenario.startProber(bySecret);
    await clock.advance(60_000);
    scenario.reload({});
    await clock.advance(60_000);
    scenario.world.shoot('own').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'own')).toEqual(allHeld);
    removeCluster(scenario, 'own');
    await clock.advance(120_000);
    expect(stateOf(scenario, 'own')).toEqual(allHeld);
  });

  it('continues a restoration when the configuration changes again', async () => {
    const { clock } = create();
    scenario.startProber();
    await holdAll(scenario);
    scenario.reload(bySecret);
    // KCM is restored, and machine-controller-manager waits for its initialDelay of 30 s.
    await clock.advance(15_000);
    expect(stateOf(scenario, 'other')).not.toEqual(allUp);
    expect(stateOf(scenario, 'other')).not.toEqual(allHeld);
    scenario.reload({ ...bySecret, probeIntervalMs: 5_000 });
    await clock.advance(120_000);
    expect([stateOf(scenario, 'own'), stateOf(scenario, 'other')]).toEqual([allHeld, allUp]);
  });

  it('continues a restoration also under source gardener, which restores no missing cluster by itself', async () => {
    const { clock } = create();
    removeCluster(scenario, 'own');
    scenario.startProber(bySecret);
    await clock.advance(60_000);
    const { store } = scenario.world.shoot('own');
    scenario.world.shoot('own').cutKubelets(store.list(simKinds.Node).map(({ metadata }) => metadata.name));
    await clock.advance(60_000);
    scenario.reload({});
    await clock.advance(15_000);
    expect(stateOf(scenario, 'own')).not.toEqual(allUp);
    scenario.reload({ probeIntervalMs: 5_000 });
    await clock.advance(120_000);
    expect(stateOf(scenario, 'own')).toEqual(allUp);
  });
});

describe('a change of the cluster source while all clusters are healthy', () => {
  it('reports a cluster that it no longer finds no more', async () => {
    const { clock } = create();
    const series = async (): Promise<string> => {
      const lines = (await scenario.meter().metricsText()).split('\n');
      return lines.filter((line) => line.startsWith('dwd_prober_last_run_timestamp_seconds{')).join('\n');
    };
    scenario.startProber();
    await clock.advance(60_000);
    const { namespace } = scenario.world.shoot('other');
    expect(await series()).toContain(namespace);
    scenario.reload(bySecret);
    await clock.advance(60_000);
    expect(await series()).not.toContain(namespace);
    expect(await series()).toContain(scenario.world.shoot('own').namespace);
  });
});
