import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, stateOf } from '../../simulator/harness/support.ts';
import type { ProberSettings } from '../../src/prober/config/settings.ts';
import { createStory } from './support/story.ts';

// A Gardener seed in which shoot `own` also has a Secret of another name, and reloads that change the cluster source.

const ownSecret = 'own-kubeconfig';
const bySecret: Partial<ProberSettings> = {
  clusterSource: { key: 'value' },
  kubeConfigSecretName: ownSecret,
};

let scenario: Scenario;

const create = (): Scenario => {
  scenario = createStory({ shoots: [{ name: 'own' }, { name: 'other' }] });
  const { api, namespace } = scenario.world.shoot('own');
  const value = Buffer.from(api.kubeconfig()).toString('base64');
  scenario.world.store.put(simKinds.Secret, { metadata: { namespace, name: ownSecret }, data: { value } });
  return scenario;
};

const holdAll = async ({ clock, world }: Scenario): Promise<void> => {
  await clock.advance(60_000);
  for (const shoot of world.shoots) shoot.cutKubelets();
  await clock.advance(60_000);
};

describe('a change of the cluster source while clusters are held', () => {
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
});
