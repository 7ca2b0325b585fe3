import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { prober } from '../../simulator/harness/replica.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, allUp, changeLines, editDeployment, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { formatHeldAnnotation, heldAnnotation } from '../../src/annotations/held.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import type { ProberOptions, ProberSettings } from '../../src/prober/index.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
const create = (): Scenario =>
  (scenario = createStory({ shoots: [{ name: 'a', replicas: { 'machine-controller-manager': 3 } }] }));

const held = allHeld.map((line) => (line.startsWith('mcm') ? 'mcm 0 replicas=3 active=' : line));
const up = allUp.map((line) => (line.startsWith('mcm') ? 'mcm 3' : line));

describe('the list of resources that stay held', () => {
  const lastLines = async (mayWrite: boolean): Promise<readonly unknown[]> => {
    create();
    await reachOutage(scenario);
    scenario.mayWrite = mayWrite;
    await scenario.stopProber();
    return scenario.log.flatMap(({ msg }) => (msg.startsWith('stopping: ') ? [msg] : []));
  };

  it('is logged by a prober that stops, and not by one that has lost leadership, because the next leader restores them', async () => {
    expect(await lastLines(true)).toEqual([
      expect.stringMatching(/^stopping: 3 resources of 1 shoot stay held; .* dwd release --shoot NAMESPACE /),
    ]);
    expect(await lastLines(false)).toEqual([]);
  });

  it('is logged although a write in flight takes longer than the stop', async () => {
    create();
    const { clock, world, changes, log, seedConnection } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    let isSent = false;
    seedConnection.setFaults(({ method, path }) => {
      if (changes.length < 2 || method !== 'PATCH' || !path.includes('/deployments/')) return undefined;
      isSent = true;
      return { delayMs: 3_000 };
    });
    await clock.runUntil(() => isSent);
    await clock.advance(500);
    await scenario.stopProber();
    expect(log.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^stopping: 2 resources of 1 shoot stay held/),
    );
  });
});

describe('a new prober', () => {
  const without = (name: string) => gardenSettings.dependentResources.filter(({ ref }) => ref.name !== name);

  it.each(['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'])(
    'restores %s, which is held, although its configuration no longer names it',
    async (name) => {
      create();
      const { clock, world, log } = scenario;
      await reachOutage(scenario);
      await scenario.stopProber();
      scenario.startProber({ dependentResources: without(name) });
      await clock.advance(60_000);
      expect(stateOf(scenario, 'a')).toEqual(held);
      world.shoot('a').restoreKubelets();
      await clock.advance(180_000);
      expect(stateOf(scenario, 'a')).toEqual(up);
      const told = log.filter(({ msg }) => msg.startsWith('a held resource is no longer configured'));
      expect(told).toMatchObject([{ resource: `apps/v1/Deployment/${name}` }]);
    },
  );

  it('restores one in another namespace, too', async () => {
    const { dependentResources } = gardenSettings;
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'extra', namespace: '{{ cluster }}-cp' };
    const settings = { dependentResources: [...dependentResources, { ...dependentResources[0]!, ref }] };
    scenario = createStory({ settings });
    const { clock, world } = scenario;
    const at = { namespace: `${world.shoot('a').namespace}-cp`, name: 'extra' };
    world.store.put(simKinds.Deployment, { metadata: at, spec: { replicas: 2 } });
    const spec = () => world.store.get(simKinds.Deployment, at)?.spec;
    await reachOutage(scenario);
    expect(spec()).toMatchObject({ replicas: 0 });
    await scenario.stopProber();
    scenario.startProber({ dependentResources });
    await clock.advance(60_000);
    world.shoot('a').restoreKubelets();
    await clock.advance(180_000);
    expect(spec()).toMatchObject({ replicas: 2 });
  });

  it('restores one to which it has no right once it has it, after a restart, too; no other shoot costs more for that', async () => {
    scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }] });
    const { clock, seedConnection } = scenario;
    await reachOutage(scenario);
    await scenario.stopProber();
    const name = 'machine-controller-manager';
    seedConnection.setFaults(({ path, query = {} }) =>
      path.endsWith(`/${name}`) || query.fieldSelector === `metadata.name=${name}` ? { status: 403 } : undefined,
    );
    const settings = { ...gardenSettings, dependentResources: without(name) };
    const checked: (readonly string[])[] = [];
    const checkRights = ({ dependentResources }: ProberSettings) =>
      checked.push(dependentResources.map(({ ref }) => ref.name));
    const watched = { ...prober(), create: (options: ProberOptions) => prober().create({ ...options, checkRights }) };
    const next = scenario.start(watched, { settings, random: createSeededRandom('next') });
    await clock.advance(60_000);
    const { requests } = scenario.shootConnection('b');
    for (const counted of [requests, seedConnection.requests]) counted.reset();
    await clock.advance(120_000);
    expect(requests.total({ resource: 'nodes' })).toBe(0);
    expect(seedConnection.requests.total({ verb: 'get' })).toBe(0);
    expect(next.checks().filter(({ ok }) => !ok)).toEqual([]);
    expect(checked).toEqual([['kube-controller-manager', 'cluster-autoscaler', name]]);
    scenario.world.shoot('a').restoreKubelets();
    await clock.advance(180_000);
    const others = ['ca 1', 'kcm 1'];
    expect(stateOf(scenario, 'a')).toEqual([...others, 'mcm 0 replicas=1 active=']);
    await scenario.end(next);
    scenario.startProber({ dependentResources: without(name) });
    await clock.advance(60_000);
    seedConnection.setFaults(undefined);
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual([...others, 'mcm 1']);
    const annotations = scenario.world.store
      .list(simKinds.Deployment, scenario.world.shoot('a').namespace)
      .flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}));
    expect(annotations.filter((key) => key === heldAnnotation)).toEqual([]);
  });

  it('restores what another replica scaled down under a former configuration since this one started', async () => {
    create();
    const { clock, world } = scenario;
    scenario.mayWrite = false;
    scenario.startProber({ dependentResources: without('machine-controller-manager') });
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(20_000);
    const refs = gardenSettings.dependentResources.map(({ ref }) => ref);
    const annotation = formatHeldAnnotation({ reason: 'r', by: 'other', with: refs });
    for (const name of ['ca', 'kcm', 'mcm']) {
      editDeployment(scenario, { shoot: 'a', name }, ({ metadata, spec, ...rest }) => ({
        ...rest,
        metadata: {
          ...metadata,
          annotations: { [replicasAnnotation]: '1', [meltdownProtectionAnnotation]: '', [heldAnnotation]: annotation },
        },
        spec: { ...(spec as object), replicas: 0 },
      }));
    }
    await clock.advance(20_000);
    scenario.mayWrite = true;
    world.shoot('a').restoreKubelets();
    await clock.advance(180_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });

  it.each([1, 2, 3])('completes a scale-down that was interrupted after %i writes', async (writes) => {
    create();
    const { clock, world, changes } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.runUntil(() => changes.length >= writes);
    await scenario.stopProber();
    scenario.startProber();
    await clock.advance(10_000);
    expect(stateOf(scenario, 'a')).toEqual(held);
    await clock.advance(300_000);
    expect(changeLines(changes)).toEqual([
      'mcm 3->0 replicas=3 active=',
      'ca 1->0 replicas=1 active=',
      'kcm 1->0 replicas=1 active=',
    ]);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
  });

  it.each([1, 2, 3])('completes a scale-up that was interrupted after %i writes', async (writes) => {
    create();
    await reachOutage(scenario);
    const { clock, world, changes } = scenario;
    world.shoot('a').restoreKubelets();
    await clock.runUntil(() => changes.length === 3 + writes);
    await scenario.stopProber();
    await clock.advance(60_000);
    expect(changes).toHaveLength(3 + writes);
    scenario.startProber();
    await clock.advance(90_000);
    expect(stateOf(scenario, 'a')).toEqual(up);
    expect(changeLines(changes.slice(3))).toEqual(['kcm 0->1', 'mcm 0->3', 'ca 0->1']);
    expect(world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
  });
});
