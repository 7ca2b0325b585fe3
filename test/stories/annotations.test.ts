import { describe, expect, it } from 'vitest';
import type { SimDraft, SimObject } from '../../simulator/apiserver/index.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario, ScenarioOptions } from '../../simulator/harness/scenario.ts';
import {
  allUp,
  editDeployment,
  editShoot,
  longName,
  reachOutage,
  stateOf,
  changeLines,
} from '../../simulator/harness/support.ts';
import { annotated } from '../../simulator/world/steering.ts';
import { readHeldAnnotation, heldAnnotation } from '../../src/annotations/held.ts';
import {
  ignoreScalingAnnotation,
  meltdownProtectionAnnotation,
  replicasAnnotation,
} from '../../src/annotations/scaling-annotations.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
const create = (options: Partial<ScenarioOptions> = {}): Scenario => (scenario = createStory(options));

const remove = (name: string): void => {
  const { world } = scenario;
  world.store.remove(simKinds.Deployment, { namespace: world.shoot('a').namespace, name: longName(name) });
};

const recover = async (ms = 120_000): Promise<void> => {
  scenario.world.shoot('a').restoreKubelets();
  await scenario.clock.advance(ms);
};

/** Annotations `held` on the Deployments of the shoot, by name. */
const heldAnnotations = () =>
  scenario.world.store.list(simKinds.Deployment, scenario.world.shoot('a').namespace).flatMap(({ metadata }) => {
    const annotation = readHeldAnnotation(metadata.annotations ?? {});
    return annotation === undefined ? [] : [{ name: metadata.name, ...annotation }];
  });

describe('the annotation of held resources', () => {
  it('is removed from resources that the Go program has restored and from those with ignore-scaling', async () => {
    create();
    await reachOutage(scenario);
    await scenario.stopProber();
    const restored = (object: SimObject): SimDraft => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { [heldAnnotation]: object.metadata.annotations![heldAnnotation]! },
      },
      spec: { ...(object.spec as object), replicas: 1 },
    });
    editDeployment(scenario, { shoot: 'a', name: 'kcm' }, restored);
    editDeployment(scenario, { shoot: 'a', name: 'mcm' }, annotated({ [ignoreScalingAnnotation]: 'true' }));
    scenario.startProber();
    await recover();
    expect([stateOf(scenario, 'a'), heldAnnotations()]).toEqual([['ca 1', 'kcm 1', 'mcm 0 replicas=1'], []]);
  });
});

describe('ignore-scaling', () => {
  it('if removed while MCM waits for its delay, has KCM restored before MCM', async () => {
    create();
    await reachOutage(scenario);
    const { clock, world } = scenario;
    editDeployment(scenario, { shoot: 'a', name: 'kcm' }, annotated({ [ignoreScalingAnnotation]: 'true' }));
    world.shoot('a').restoreKubelets();
    await clock.advance(25_000);
    expect(stateOf(scenario, 'a')).toEqual(['ca 0 replicas=1 active=', 'kcm 0 replicas=1', 'mcm 0 replicas=1 active=']);
    editDeployment(scenario, { shoot: 'a', name: 'kcm' }, annotated({ [ignoreScalingAnnotation]: 'false' }));
    const givenBackAt = clock.monotonic();
    await clock.advance(90_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    const ups = scenario.changes.filter(({ at, to }) => at > givenBackAt && to === 1);
    expect(ups.map(({ name }) => name)).toEqual(['kcm', 'mcm', 'ca'].map(longName));
  });
});

describe('KCM, scaled down again while MCM waits for its delay', () => {
  // A standby with an older verdict would do this.
  const scaleKcm = (replicas: number, annotations: Readonly<Record<string, string>>): void =>
    editDeployment(scenario, { shoot: 'a', name: 'kcm' }, ({ spec, metadata, ...old }) => ({
      ...old,
      metadata: { ...metadata, annotations },
      spec: { ...(spec as object), replicas },
    }));
  const held = { [meltdownProtectionAnnotation]: '', [replicasAnnotation]: '1' };
  const mcmWaits = ['ca 0 replicas=1 active=', 'kcm 1', 'mcm 0 replicas=1 active='];

  it.each<[text: string, begin: () => void]>([
    ['in a scale-up', () => scenario.world.shoot('a').restoreKubelets()],
    [
      'at the end of probing',
      () => {
        // An operator has scaled it up; only held resources are restored.
        scaleKcm(1, {});
        editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, provider: { workers: [] } } }));
      },
    ],
  ])('%s, is restored before MCM', async (_, begin) => {
    create();
    await reachOutage(scenario);
    const { clock } = scenario;
    begin();
    for (let seconds = 0; seconds < 60 && !stateOf(scenario, 'a').includes('kcm 1'); seconds += 1) {
      await clock.advance(1_000);
    }
    await clock.advance(10_000);
    expect(stateOf(scenario, 'a')).toEqual(mcmWaits);
    scaleKcm(0, held);
    const downAt = clock.monotonic();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    const ups = scenario.changes.filter(({ at, to }) => at > downAt && to === 1);
    expect(ups.map(({ name }) => name)).toEqual(['kcm', 'mcm', 'ca'].map(longName));
  });
});

describe('a missing Deployment', () => {
  it('is no error and delays nothing if it is optional', async () => {
    create({ shoots: [{ name: 'a', replicas: { 'cluster-autoscaler': 0 } }] });
    await reachOutage(scenario);
    await recover();
    expect(changeLines(scenario.changes)).toEqual([
      'mcm 1->0 replicas=1 active=',
      'kcm 1->0 replicas=1 active=',
      'kcm 0->1',
      'mcm 0->1',
    ]);
    expect(scenario.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('if mandatory, delays no later level of a scale-up, and is restored when it exists', async () => {
    create();
    await reachOutage(scenario);
    const { metadata, spec } = scenario.world.store.get(simKinds.Deployment, {
      namespace: scenario.world.shoot('a').namespace,
      name: longName('mcm'),
    })!;
    remove('mcm');
    await recover();
    expect(stateOf(scenario, 'a')).toEqual(['ca 1', 'kcm 1']);
    const { name, namespace = '', annotations } = metadata;
    scenario.world.store.put(simKinds.Deployment, { metadata: { name, namespace, annotations }, spec });
    await scenario.clock.advance(90_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });
});
