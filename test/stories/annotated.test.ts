import { afterEach, describe, expect, it } from 'vitest';
import { customKind, simKinds } from '../../simulator/apiserver/index.ts';
import { type Scenario, type ScenarioOptions, createScenario } from '../../simulator/harness/scenario.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { createServerConnections } from '../../simulator/harness/server-connections.ts';
import { recordLog } from '../../simulator/harness/recorded-log.ts';
import { allHeld, allUp, editShoot, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { createSeededRandom } from '../../simulator/time/index.ts';
import { heldAnnotation } from '../../src/gardener/held-note.ts';
import {
  formerAnnotation,
  ignoreScalingAnnotation,
  meltdownProtectionAnnotation,
} from '../../src/gardener/scaling-annotations.ts';
import { createMeter } from '../../src/telemetry/index.ts';
import { createKubeClient } from '../../src/kubernetes/client/index.ts';
import { findHeldInCache, foreseeRelease, listHeldOf, releaseHeld } from '../../src/prober/held/index.ts';
import type { DependentResource } from '../../src/prober/index.ts';
import type { ProberStatus } from '../../src/prober/status/index.ts';

// A dependent resource that is annotated instead of scaled, in addition to Gardener's own dependents.

const identity = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'MachineHealthCheck',
  resource: 'machinehealthchecks',
};
const kind = customKind(identity, { status: true });
const paused = 'cluster.x-k8s.io/paused';
const info = { level: 0, initialDelayMs: 0, timeoutMs: 30_000 };
const healthCheck: DependentResource = {
  ref: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineHealthCheck', name: 'mhc' },
  optional: false,
  annotation: { key: paused, value: 'dwd' },
  scaleUp: { ...info, level: 2 },
  scaleDown: info,
};
const settings = { dependentResources: [...gardenSettings.dependentResources, healthCheck] };

type Annotations = Readonly<Record<string, string>>;

let scenario: Scenario;
const create = (own: Annotations = {}, options: Partial<ScenarioOptions> = {}): Scenario => {
  scenario = createScenario({
    shoots: [{ name: 'a' }],
    kinds: [...Object.values(simKinds), kind],
    settings,
    ...options,
  });
  scenario.world.store.put(kind, { metadata: { ...at(), annotations: own }, spec: { clusterName: 'a' } });
  return scenario;
};
afterEach(() => scenario.stop());

const at = () => ({ namespace: scenario.world.shoot('a').namespace, name: 'mhc' });
/** Annotations without the note, which contains a time. */
const annotations = (): Annotations => {
  const { [heldAnnotation]: _, ...rest } = scenario.world.store.get(kind, at())?.metadata.annotations ?? {};
  return rest;
};
const annotate = (change: Annotations): void => {
  scenario.world.store.patch(kind, at(), (old) => ({ ...old, metadata: { ...old.metadata, annotations: change } }));
};
const held = (former?: string): Annotations => ({
  [paused]: 'dwd',
  [formerAnnotation]: JSON.stringify({ key: paused, value: 'dwd', former }),
  [meltdownProtectionAnnotation]: '',
});
const messages = (): readonly string[] => scenario.log.map(({ msg }) => msg);
const recover = async (ms = 120_000): Promise<void> => {
  scenario.world.shoot('a').restoreKubelets();
  await scenario.clock.advance(ms);
};

describe('an annotated resource', () => {
  it.each([
    ['was not annotated', {}, held()],
    ['was annotated by another client', { [paused]: 'true' }, held('true')],
    ['was annotated by another client with our value', { [paused]: 'dwd' }, held('dwd')],
  ])('is as before after an outage, if it %s', async (_, own, expected) => {
    create(own);
    await reachOutage(scenario);
    expect([stateOf(scenario, 'a'), annotations()]).toEqual([allHeld, expected]);
    const { shoots } = scenario.status() as Pick<ProberStatus, 'shoots'>;
    expect(shoots[0]?.held.find(({ name }) => name === 'mhc')?.annotation).toBe(paused);
    await recover();
    expect([stateOf(scenario, 'a'), annotations()]).toEqual([allUp, own]);
    const words = messages().filter((message) => message.endsWith('an annotation'));
    expect(words).toEqual(['set an annotation', 'restored an annotation']);
  });

  it('is not changed while the shoot is healthy', async () => {
    create({ [paused]: 'true' });
    scenario.startProber();
    await scenario.clock.advance(300_000);
    expect(scenario.seedConnection.requests.byKey.get('patch machinehealthchecks')).toBeUndefined();
    expect(annotations()).toEqual({ [paused]: 'true' });
  });

  it('keeps a value that another client sets after the outage', async () => {
    create();
    await reachOutage(scenario);
    await scenario.stopProber();
    annotate({ ...annotations(), [paused]: 'mine' });
    scenario.world.shoot('a').restoreKubelets();
    await scenario.clock.advance(30_000);
    scenario.startProber();
    await scenario.clock.advance(120_000);
    expect(annotations()).toEqual({ [paused]: 'mine' });
  });

  it('is annotated again if another client changes it during the outage, and that value is restored later', async () => {
    create({ [paused]: 'true' });
    await reachOutage(scenario);
    annotate({ ...annotations(), [paused]: 'mine' });
    await scenario.clock.advance(30_000);
    expect(annotations()).toEqual(held('mine'));
    expect(messages()).toContain("undone another writer's change of an annotation");
    await recover();
    expect(annotations()).toEqual({ [paused]: 'mine' });
  });

  it.each([
    ['in the outage', true],
    ['while no prober runs', false],
  ])('is restored even if another client removes the stored former value %s', async (_, inOutage) => {
    create();
    await reachOutage(scenario);
    if (!inOutage) await scenario.stopProber();
    const { [formerAnnotation]: _former, ...rest } = annotations();
    annotate(rest);
    await scenario.clock.advance(30_000);
    expect(annotations()).toEqual({ [paused]: 'dwd', [meltdownProtectionAnnotation]: '' });
    if (!inOutage) scenario.startProber();
    await recover();
    expect([stateOf(scenario, 'a'), annotations()]).toEqual([allUp, {}]);
  });

  it('is restored by another prober, also with another configuration', async () => {
    create({ [paused]: 'true' });
    await reachOutage(scenario);
    await scenario.stopProber();
    const other = { ...healthCheck, annotation: { key: 'example.com/other', value: 'x' } };
    scenario.startProber({ dependentResources: [...gardenSettings.dependentResources, other] });
    await scenario.clock.advance(30_000);
    expect(annotations()).toEqual(held('true'));
    await recover();
    expect(annotations()).toEqual({ [paused]: 'true' });
  });

  it('is restored after a reload of a configuration that no longer names it', async () => {
    create({ [paused]: 'true' });
    await reachOutage(scenario);
    scenario.reload({ dependentResources: gardenSettings.dependentResources });
    await scenario.clock.advance(30_000);
    await recover();
    expect([stateOf(scenario, 'a'), annotations()]).toEqual([allUp, { [paused]: 'true' }]);
  });

  it('is restored when the shoot is hibernated, although replicas stay at 0', async () => {
    create({ [paused]: 'true' });
    await reachOutage(scenario);
    editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, hibernation: { enabled: true } } }));
    await scenario.clock.advance(30_000);
    expect(stateOf(scenario, 'a')).toEqual(['ca 0 replicas=1', 'kcm 0 replicas=1', 'mcm 0 replicas=1']);
    expect(annotations()).toEqual({ [paused]: 'true' });
  });

  it('is not changed with ignore-scaling', async () => {
    create({ [ignoreScalingAnnotation]: 'true' });
    await reachOutage(scenario);
    expect([stateOf(scenario, 'a'), annotations()]).toEqual([allHeld, { [ignoreScalingAnnotation]: 'true' }]);
  });

  it('is not changed in a dry run, which logs that it would have been', async () => {
    create();
    scenario.startProber({}, { dryRun: true });
    await scenario.clock.advance(60_000);
    scenario.world.shoot('a').cutKubelets();
    await scenario.clock.advance(60_000);
    expect(annotations()).toEqual({});
    expect(messages()).toContain('would have set an annotation');
  });
});

describe('dwd release and dwd status', () => {
  const given = () => {
    const { world, clock } = scenario;
    const log = recordLog(clock, 'debug');
    return {
      ...{
        settings: { ...gardenSettings, ...settings },
        reason: 'released',
        seed: createServerConnections({ world, clock }).seedTransport,
      },
      ...{ clock, random: createSeededRandom(1), logger: log.logger, meter: createMeter({ processMetrics: false }) },
      ...{ userAgent: 'test', env: {}, deadline: clock.monotonic() + 120_000, progress: () => undefined },
      signal: new AbortController().signal,
    };
  };
  const hold = async (own: Annotations): Promise<void> => {
    create(own);
    await reachOutage(scenario);
    await scenario.stopProber();
    scenario.world.shoot('a').restoreKubelets();
  };
  const other = { ...healthCheck, optional: true, ref: { ...healthCheck.ref, name: 'other' } };
  const name = () => `MachineHealthCheck ${at().namespace}/mhc`;

  it('find an annotated resource among the held ones', async () => {
    await hold({ [paused]: 'true' });
    const options = given();
    const client = createKubeClient({ kube: options.seed, clock: scenario.clock });
    const inCache = findHeldInCache(healthCheck.ref, { client, options: { ...options, timeoutMs: 5_000 } });
    expect((await scenario.clock.run(inCache)).map((one) => one.namespace)).toEqual([at().namespace]);
    annotate({ ...annotations(), [ignoreScalingAnnotation]: 'true' });
    const { left } = foreseeRelease(await scenario.clock.run(listHeldOf(options)));
    expect(left).toEqual([
      `${name()} is annotated with ${paused}, was "true": its annotation ignore-scaling excludes it: change the annotation ${paused} by hand`,
    ]);
  });

  it('restore it if another client has removed the stored former value', async () => {
    await hold({});
    const { [formerAnnotation]: _, ...rest } = annotations();
    annotate(rest);
    const options = given();
    const { restored, left } = await scenario.clock.run(releaseHeld(options));
    expect([left, restored.includes(name()), annotations()]).toEqual([[], true, {}]);
  });

  it.each([
    ['is configured', settings],
    ['shares its kind with a configured one', { dependentResources: [other] }],
    ['is not', {}],
  ])('restore all counts, and the annotation only if its kind is configured: it %s', async (_, configured) => {
    await hold({ [paused]: 'true' });
    const { restored, left } = await scenario.clock.run(
      releaseHeld({ ...given(), settings: { ...gardenSettings, ...configured } }),
    );
    const isConfigured = 'dependentResources' in configured;
    expect(left).toEqual([]);
    expect(restored.includes(name())).toBe(isConfigured);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(annotations()).toEqual(isConfigured ? { [paused]: 'true' } : held('true'));
  });
});
