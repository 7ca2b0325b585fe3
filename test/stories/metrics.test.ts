import { expect, it } from 'vitest';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, stateOf } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;

/** Series of a metric, such as `dwd_x{namespace="a"} 3`. */
const series = async (name: string): Promise<readonly string[]> =>
  (await scenario.meter().metricsText()).split('\n').filter((line) => line.startsWith(`${name}{`));

const scalingsEnded = (): number => scenario.log.filter(({ msg }) => /^scaling \w+ completed$/.test(msg)).length;

it('dependent resources that cannot be scaled are reported until their kind is served', async () => {
  scenario = createStory();
  const druid = 'druid.gardener.cloud/v1alpha1';
  const refs = [
    { apiVersion: druid, kind: 'Etcd', name: 'main' },
    { apiVersion: 'example.com/v1', kind: 'Thing', name: 'x' },
    // Served, but without a scale subresource.
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'y' },
  ];
  const { dependentResources } = gardenSettings;
  const more = refs.map((ref) => ({ ...dependentResources[0]!, ref, optional: true }));
  const unserved = async (): Promise<readonly string[]> => {
    const lines = await series('dwd_prober_dependent_unserved');
    const found = lines.filter((line) => line.endsWith(' 1'));
    return found.map((line) => /resource="(.*?)"/.exec(line)![1]!).sort();
  };
  scenario.seedConnection.setFaults(({ path }) => (path === `/apis/${druid}` ? { status: 404 } : undefined));
  scenario.startProber({ dependentResources: [...dependentResources, ...more] });
  await scenario.clock.advance(30_000);
  expect(await unserved()).toEqual([`${druid}/Etcd/main`, 'example.com/v1/Thing/x', 'v1/ConfigMap/y']);
  expect(await series('dwd_prober_dependent_unserved')).toHaveLength(6);
  const logged = scenario.log.filter(({ msg }) => msg === 'a dependent resource cannot be scaled');
  expect(logged.map(({ level, resource }) => `${level} ${String(resource)}`).sort()).toEqual(
    (await unserved()).map((resource) => `error ${resource}`),
  );
  scenario.seedConnection.setFaults(undefined);
  await scenario.clock.advance(30_000);
  expect(await unserved()).toEqual(['example.com/v1/Thing/x', 'v1/ConfigMap/y']);
  scenario.world.shoot('a').cutKubelets();
  await scenario.clock.advance(60_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  // The next configuration no longer names them.
  scenario.reload({ dependentResources });
  await scenario.clock.advance(60_000);
  expect(await unserved()).toEqual([]);
  expect(await series('dwd_prober_dependent_unserved')).toHaveLength(3);
});

const valueOf = async (name: string): Promise<number | undefined> => {
  const [line] = await series(name);
  return line === undefined ? undefined : Number(line.split(' ')[1]);
};

it('the times of the last run and of a hold are exported', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  scenario.startProber({ probeIntervalMs: 20_000 });
  await clock.advance(60_000);
  expect((await scenario.meter().metricsText()).split('\n')).toContain('dwd_prober_probe_interval_seconds 20');
  const age = clock.now() / 1_000 - ((await valueOf('dwd_prober_last_run_timestamp_seconds')) ?? 0);
  expect(Math.abs(age)).toBeLessThan(25);
  const before = clock.now() / 1_000;
  expect(await valueOf('dwd_prober_held_since_timestamp_seconds')).toBeUndefined();
  world.shoot('a').cutKubelets();
  await clock.runUntil(() => scalingsEnded() === 1);
  const since = (await valueOf('dwd_prober_held_since_timestamp_seconds')) ?? 0;
  expect(since).toBeGreaterThan(before);
  await clock.advance(60_000);
  expect(await valueOf('dwd_prober_held_since_timestamp_seconds')).toBe(since);
  expect(await valueOf('dwd_prober_late_protection_timestamp_seconds')).toBeUndefined();
  world.shoot('a').restoreKubelets();
  await clock.runUntil(() => scalingsEnded() === 2);
  expect(await valueOf('dwd_prober_held_since_timestamp_seconds')).toBeUndefined();
});

it('a scale-down that the seed refuses is reported as late', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  scenario.seedConnection.setFaults(({ method }) => (method === 'PATCH' ? { status: 403 } : undefined));
  world.shoot('a').cutKubelets();
  await clock.advance(60_000);
  const late = scenario.log.filter(({ msg }) => msg === 'the threshold is crossed, and nothing is scaled down');
  expect(late).toMatchObject([{ level: 'error', namespace: world.shoot('a').namespace }]);
  const at = (await valueOf('dwd_prober_late_protection_timestamp_seconds')) ?? 0;
  expect(clock.now() / 1_000 - at).toBeGreaterThan(0);
  expect(clock.now() / 1_000 - at).toBeLessThan(60);
});
