import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario, ScenarioOptions } from '../../simulator/harness/scenario.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, allUp, reachOutage, stateOf, changeLines } from '../../simulator/harness/support.ts';
import { kubeconfigSecretName } from '../../simulator/world/index.ts';
import { proberGrants } from '../../src/prober/rights.ts';
import { statusSchema } from '../../src/status/state/schema.ts';
import { createStory } from './support/story.ts';

// Clusters that are found by the Secret with their kubeconfig, in a seed without Gardener.

const clusterSource = { key: 'value' };
const create = (settings: ScenarioOptions['settings'] = {}): Scenario => {
  const scenario = createStory({
    shoots: [{ name: 'a' }, { name: 'b' }],
    source: 'secret',
    settings: { clusterSource, ...settings },
  });
  for (const { namespace } of scenario.world.shoots) publish(scenario, namespace);
  return scenario;
};

const selector = 'app=tenant';

/** Creates a scenario in which the Secrets of `a` and `b` are found by their labels. */
const createLabelled = (): Scenario => {
  const scenario = createStory({
    shoots: [{ name: 'a' }, { name: 'b' }],
    source: 'secret',
    settings: { clusterSource: { key: 'value', selector }, kubeConfigSecretName: selector },
  });
  for (const shoot of ['a', 'b']) label(scenario, { shoot, name: 'first' });
  return scenario;
};

interface Labelled {
  readonly shoot: string;
  readonly name: string;
  /** Name of the shoot whose kubeconfig the Secret holds. Default: `shoot`. */
  readonly of?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const label = ({ world }: Scenario, { shoot, name, of = shoot, labels = { app: 'tenant' } }: Labelled): void => {
  const value = Buffer.from(world.shoot(of).api.kubeconfig()).toString('base64');
  const { namespace } = world.shoot(shoot);
  world.store.put(simKinds.Secret, { metadata: { namespace, name, labels }, data: { value } });
};

const secretAt = (namespace: string) => ({ namespace, name: kubeconfigSecretName });

/** Writes the Secret with the kubeconfig as Cluster API does. */
const publish = ({ world }: Scenario, namespace: string): void => {
  const api = world.shoots.find((shoot) => shoot.namespace === namespace)!.api;
  const value = Buffer.from(api.kubeconfig()).toString('base64');
  world.store.put(simKinds.Secret, { metadata: secretAt(namespace), data: { value } });
};

const removeSecret = (scenario: Scenario): void => {
  scenario.world.store.remove(simKinds.Secret, secretAt(scenario.world.shoot('a').namespace));
};

const beginDeletion = ({ world }: Scenario): void => {
  world.store.patch(simKinds.Namespace, { name: world.shoot('a').namespace }, (old) => ({
    ...old,
    metadata: { ...old.metadata, deletionTimestamp: '2026-11-23T06:00:00Z', finalizers: ['test/waits'] },
  }));
};

const impactOn = ({ world }: Scenario) => world.shoot('a').impact();

describe('a cluster that is found by its Secret', () => {
  it('is found, judged, held and restored with the declared rights, without a Cluster or a Machine', async () => {
    const scenario = create();
    await reachOutage(scenario);
    expect([stateOf(scenario, 'a'), stateOf(scenario, 'b')]).toEqual([allHeld, allUp]);
    scenario.world.shoot('a').restoreKubelets();
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(impactOn(scenario)).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
    const grants = proberGrants({ ...gardenSettings, clusterSource }, ({ kind }) => `${kind.toLowerCase()}s`);
    const granted = grants.flatMap(({ verbs, resource }) => verbs.map((verb) => `${verb} ${resource}`));
    const asked = [...scenario.seedConnection.requests.byKey.keys()];
    expect(asked).toEqual(expect.arrayContaining(['list namespaces', 'list secrets', 'patch deployments']));
    // Discovery needs no grant.
    expect(asked.filter((key) => !granted.includes(key))).toEqual(['get /apis/apps/v1']);
    expect(granted.filter((key) => /clusters|machines/.test(key))).toEqual([]);
  });

  it('is judged by the nodes that nodeSelector selects', async () => {
    const scenario = create({ clusterSource: { ...clusterSource, nodeSelector: 'site=edge' } });
    const shoot = scenario.world.shoot('a');
    const edge = shoot.store.list(simKinds.Node).slice(0, 2);
    for (const { metadata } of edge) {
      shoot.store.patch(simKinds.Node, metadata, (old) => ({
        ...old,
        metadata: { ...old.metadata, labels: { site: 'edge' } },
      }));
    }
    scenario.startProber();
    await scenario.clock.advance(30_000);
    shoot.cutKubelets(edge.map(({ metadata }) => metadata.name));
    await scenario.clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });

  it('is probed as soon as its Secret exists', async () => {
    const scenario = create();
    removeSecret(scenario);
    scenario.startProber();
    await scenario.clock.advance(60_000);
    expect(scenario.shootConnection('a').requests.byKey.size).toBe(0);
    publish(scenario, scenario.world.shoot('a').namespace);
    await scenario.clock.advance(60_000);
    scenario.world.shoot('a').cutKubelets();
    await scenario.clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });

  it('is restored when its Secret has been missing for a minute, because no other controller would restore it', async () => {
    const scenario = create();
    await reachOutage(scenario);
    removeSecret(scenario);
    await scenario.clock.advance(59_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    scenario.seedConnection.setFaults(({ method }) => (method === 'PATCH' ? { status: 503 } : undefined));
    await scenario.clock.advance(5_000);
    const status = statusSchema.parse(scenario.status());
    expect(status.shoots.find(({ namespace }) => namespace === scenario.world.shoot('a').namespace)).toMatchObject({
      notProbed: { reason: 'the Secret with its kubeconfig is gone', givesBack: true },
      do: expect.not.stringContaining('dwd release') as string,
    });
    scenario.seedConnection.setFaults(() => undefined);
    await scenario.clock.advance(115_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    const total = scenario.shootConnection('a').requests.total();
    await scenario.clock.advance(60_000);
    expect(scenario.shootConnection('a').requests.total()).toBe(total);
  });

  it('is released without a change of replicas while its namespace is being deleted', async () => {
    const scenario = create();
    await reachOutage(scenario);
    beginDeletion(scenario);
    await scenario.clock.advance(30_000);
    removeSecret(scenario);
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(['ca 0 replicas=1', 'kcm 0 replicas=1', 'mcm 0 replicas=1']);
  });

  it('has resources in another namespace restored while its own is being deleted, because no other controller would', async () => {
    const elsewhere = gardenSettings.dependentResources.slice(0, 1).map((resource) => ({
      ...resource,
      ref: { ...resource.ref, namespace: '{{ namespace }}-cp' },
    }));
    const [ref] = elsewhere.map((resource) => resource.ref);
    const scenario = create({ dependentResources: elsewhere });
    const { store } = scenario.world;
    const { namespace } = scenario.world.shoot('a');
    const at = { namespace: `${namespace}-cp`, name: ref?.name ?? '' };
    const own = store.get(simKinds.Deployment, { ...at, namespace });
    store.put(simKinds.Deployment, { metadata: at, spec: own?.spec });
    const spec = () => store.get(simKinds.Deployment, at)?.spec;
    await reachOutage(scenario);
    expect(spec()).toMatchObject({ replicas: 0 });
    beginDeletion(scenario);
    await scenario.clock.advance(30_000);
    expect(spec()).toMatchObject({ replicas: 1 });
  });
});

describe('a cluster whose Secret is found by its labels', () => {
  const problem =
    '2 Secrets with a kubeconfig have the labels of clusterSource.selector: the prober uses first, the oldest, and not second';

  it('is probed with the oldest of two Secrets, and the other is reported once', async () => {
    const scenario = createLabelled();
    await reachOutage(scenario);
    const { namespace } = scenario.world.shoot('a');
    label(scenario, { shoot: 'a', name: 'second', of: 'b' });
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(scenario.log.filter((line) => line.problem === problem)).toMatchObject([{ namespace }]);
    const events = scenario.world.store
      .list(simKinds.Event, namespace)
      .filter((event) => event.reason === 'MeltdownProtectionSecretAmbiguous');
    expect(events).toMatchObject([{ message: problem, type: 'Warning' }]);
    scenario.world.store.remove(simKinds.Secret, { namespace, name: 'second' });
    await scenario.clock.advance(10_000);
    expect(scenario.log.map(({ msg }) => msg)).toContain('it is clear again which Secret is of the cluster');
  });

  it('stays held while another Secret takes the place of the first', async () => {
    const scenario = createLabelled();
    await reachOutage(scenario);
    const { length } = scenario.changes;
    const { namespace } = scenario.world.shoot('a');
    label(scenario, { shoot: 'a', name: 'second' });
    scenario.world.store.remove(simKinds.Secret, { namespace, name: 'first' });
    await scenario.clock.advance(180_000);
    expect(changeLines(scenario.changes.slice(length))).toEqual([]);
    scenario.world.shoot('a').restoreKubelets();
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });
});
