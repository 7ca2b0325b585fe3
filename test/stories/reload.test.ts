import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, allUp, editShoot, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { requestKind } from '../../simulator/network/counting.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;

it('applies new settings without a restart, and keeps the lease history', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  await clock.advance(20_000);
  scenario.reload({ probeIntervalMs: 7_000 });
  // Leases expire 30 s after their last renewal, as without a reload: no first observation again, no initial delay.
  await clock.advance(15_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
});

it('restores a resource that the new configuration expects in another namespace', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  await reachOutage(scenario);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  const [first, ...others] = gardenSettings.dependentResources;
  const moved = { ...first!, optional: true, ref: { ...first!.ref, namespace: '{{ namespace }}-cp' } };
  scenario.reload({ dependentResources: [moved, ...others] });
  await clock.advance(60_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  world.shoot('a').restoreKubelets();
  await clock.advance(120_000);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
});

it('restores a resource that was scaled down while the new configuration was being applied', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  // The watches of the new configuration start slowly; meanwhile the former configuration protects the shoot.
  scenario.startProber();
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  await clock.advance(20_000);
  scenario.seedConnection.setFaults(({ path, query }) =>
    path.endsWith('/clusters') && query?.watch === undefined ? { delayMs: 25_000 } : undefined,
  );
  scenario.reload({ dependentResources: gardenSettings.dependentResources.slice(0, 2) });
  await clock.advance(20_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  scenario.seedConnection.setFaults(undefined);
  await clock.advance(30_000);
  world.shoot('a').restoreKubelets();
  await clock.advance(180_000);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
});

it('forgets a shoot whose last resource was just restored, although its pods are not ready', async () => {
  scenario = createStory();
  const { clock } = scenario;
  await reachOutage(scenario);
  editShoot(scenario, 'a', (shoot) => ({
    ...shoot,
    spec: { ...shoot.spec, provider: { ...shoot.spec.provider, workers: [] } },
  }));
  await clock.runUntil(() => stateOf(scenario, 'a').join() === allUp.join());
  scenario.reload({ probeIntervalMs: 7_000 });
  await clock.advance(60_000);
  const metrics = await scenario.meter().metricsText();
  expect(metrics).toMatch(/^dwd_prober_probers 0$/m);
  expect(metrics).not.toContain('shoot--sim--a');
});

it('continues with the history of a shoot that is to be probed again once its last write has ended', async () => {
  scenario = createStory();
  const { clock, log } = scenario;
  await reachOutage(scenario);
  const { namespace: name } = scenario.world.shoot('a');
  const original = scenario.world.store.get(simKinds.Cluster, { name });
  // The release of the shoot without workers sends a write, which takes long. Meanwhile the shoot gets its workers back.
  scenario.seedConnection.setFaults(({ method }) => (method === 'PATCH' ? { delayMs: 4_000 } : undefined));
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, provider: { workers: [] } } }));
  await clock.advance(1_000);
  scenario.world.store.patch(simKinds.Cluster, { name }, (cluster) => ({ ...cluster, spec: original!.spec }));
  await clock.advance(1_000);
  scenario.reload({ probeIntervalMs: 7_000 });
  await clock.advance(60_000);
  expect(log.filter(({ msg }) => msg === 'probing')).toHaveLength(1);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
});

it('continues to protect a shoot whose Cluster cannot be decoded', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, hibernation: 'no' } }));
  await clock.advance(1_000);
  scenario.reload({ probeIntervalMs: 7_000 });
  await clock.advance(5_000);
  world.shoot('a').cutKubelets();
  await clock.advance(60_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
});

describe('reloads in quick succession', () => {
  /** Records the open watches of the seed, by resource and field selector; `slow`: resources whose lists are delayed. */
  const followWatches = () => {
    const signals: { readonly what: string; readonly signal: AbortSignal }[] = [];
    const slow = new Set<string>();
    scenario.seedConnection.setFaults((request) => {
      const { verb, resource } = requestKind(request);
      const what = `${resource} ${request.query?.fieldSelector ?? ''}`;
      if (verb === 'watch') signals.push({ what, signal: request.signal });
      return verb === 'list' && slow.has(resource) ? { delayMs: 3_000 } : undefined;
    });
    const open = () => signals.flatMap(({ what, signal }) => (signal.aborted ? [] : [what])).sort();
    return { open, slow };
  };

  it.each([
    { what: 'two', gapsMs: [0], inForce: 1 },
    { what: 'two, the second before the first is in force', gapsMs: [1_000], inForce: 1 },
    { what: 'two, the second right after the first is in force', gapsMs: [3_000], inForce: 2 },
    { what: 'three', gapsMs: [0, 0], inForce: 1 },
    { what: 'three, one after the other', gapsMs: [1_000, 1_000], inForce: 1 },
  ])('($what): the last one wins, and nothing remains of the earlier ones', async ({ gapsMs, inForce }) => {
    scenario = createStory();
    const { clock, world, log } = scenario;
    const { open, slow } = followWatches();
    scenario.startProber();
    await clock.advance(60_000);
    const before = open();
    expect(before).toHaveLength(6);
    slow.add('clusters');
    const onlyKcm = gardenSettings.dependentResources.slice(0, 1);
    for (const gapMs of gapsMs) {
      scenario.reload({ dependentResources: onlyKcm, probeIntervalMs: 60_000 });
      await clock.advance(gapMs);
    }
    scenario.reload({ probeIntervalMs: 5_000 });
    await clock.advance(10_000);
    expect(open()).toEqual(before);
    expect(log.filter(({ msg }) => msg === 'the new configuration is in force')).toHaveLength(inForce);
    const runs = () => log.filter(({ msg }) => msg === 'probe run').length;
    const from = runs();
    await clock.advance(60_000);
    expect(runs() - from).toBeGreaterThanOrEqual(10);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    await scenario.stopProber();
    expect(open()).toEqual([]);
  });
});

it('continues a scale-down at once that it interrupts between two levels', async () => {
  scenario = createStory({ settings: { probeIntervalMs: 30_000 } });
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  await clock.runUntil(
    () => stateOf(scenario, 'a').join() === 'ca 0 replicas=1 active=,kcm 1,mcm 0 replicas=1 active=',
  );
  const interruptedAt = clock.monotonic();
  scenario.reload({ nodeLeaseFailureFraction: 0.5 });
  await clock.runUntil(() => stateOf(scenario, 'a').join() === allHeld.join());
  expect(clock.monotonic() - interruptedAt).toBeLessThan(5_000);
});
