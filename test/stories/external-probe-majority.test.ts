import { afterEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type Scenario, type ScenarioOptions, createScenario } from '../../simulator/harness/scenario.ts';
import {
  createExternalProbeScenario,
  cutLoadBalancer,
  externalProbe,
  mendLoadBalancer,
  metricOf,
  publishExternalKubeconfig,
  externalProbeLogLines,
} from '../../simulator/harness/external-probe-support.ts';
import { allHeld, allUp, stateOf } from '../../simulator/harness/support.ts';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import type { ExternalProbeMode } from '../../src/prober/settings.ts';

let scenario: Scenario;
const names = ['a', 'b', 'c', 'd', 'e'];
const create = (mode: ExternalProbeMode, options: Partial<ScenarioOptions> = {}): Scenario => {
  scenario = createExternalProbeScenario(mode, { shoots: names.map((name) => ({ name })), ...options });
  return scenario;
};
afterEach(() => scenario.stop());

const modes = ['observe', 'confirm', 'trigger'] as const;
const breakPaths = (broken: readonly string[], how: 'refused' | 'silent' | 'open' = 'silent'): void => {
  for (const name of broken) scenario.world.shoot(name).api.publicAddress.setReachability(how);
};
const isOurs = (): Promise<number | undefined> => metricOf(scenario, 'dwd_prober_outside_path_fault_is_ours');
const unknown = (name: string): Promise<number | undefined> =>
  metricOf(scenario, `dwd_prober_outside_path_state{namespace="shoot--sim--${name}",state="unknown"}`);
const aboutOurs = (): readonly string[] =>
  externalProbeLogLines(scenario).filter((line) => line.includes('most outside paths'));

describe('the external addresses of most shoots, if unreachable while leases are renewed,', () => {
  it.each(modes)('are a fault on our side, logged once, and scale nothing in mode %s', async (mode) => {
    create(mode);
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    expect(await isOurs()).toBe(0);
    breakPaths(names);
    await clock.advance(600_000);
    expect(scenario.changes).toEqual([]);
    expect(await isOurs()).toBe(1);
    for (const name of names) expect(await unknown(name)).toBe(1);
    expect(aboutOurs()).toEqual([expect.stringMatching(/^warn .* the fault is ours/)]);
    expect(scenario.log.filter(({ level }) => level === 'warn').length).toBeLessThanOrEqual(1 + names.length);
    breakPaths(names, 'open');
    await clock.advance(30_000);
    expect(await isOurs()).toBe(0);
    for (const name of names) expect(await unknown(name)).toBe(0);
    expect(aboutOurs()).toHaveLength(2);
  });

  it('do not prevent that a shoot is protected because of its leases', async () => {
    create('confirm');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    breakPaths(names.slice(0, 4), 'refused');
    await clock.advance(120_000);
    expect(await isOurs()).toBe(1);
    // The address of shoot e is reachable, which must have no effect now.
    world.shoot('e').cutKubelets();
    await clock.advance(45_000);
    expect(stateOf(scenario, 'e')).toEqual(allHeld);
    expect(world.shoot('e').impact().nodesTurnedUnknown).toBe(0);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });

  it('are no such fault if they are at most half of all addresses', async () => {
    create('observe', { shoots: [...names, 'f'].map((name) => ({ name })) });
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    breakPaths(['a', 'b', 'c']);
    await clock.advance(300_000);
    expect(await isOurs()).toBe(0);
    breakPaths(['d']);
    await clock.advance(300_000);
    expect(await isOurs()).toBe(1);
  });

  it('are no longer such a fault when the leases cannot be read', async () => {
    create('observe');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    breakPaths(names);
    await clock.advance(120_000);
    expect(await isOurs()).toBe(1);
    for (const name of names) world.shoot(name).api.setReachability('refused');
    await clock.advance(15_000);
    expect(await isOurs()).toBe(0);
  });

  it('do not delay the protection in an outage that follows', async () => {
    create('trigger');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    breakPaths(names, 'refused');
    await clock.advance(120_000);
    expect(await isOurs()).toBe(1);
    for (const name of names) world.shoot(name).cutKubelets();
    await clock.advance(45_000);
    expect(await isOurs()).toBe(0);
    for (const name of names) {
      expect(stateOf(scenario, name)).toEqual(allHeld);
      expect(world.shoot(name).impact().nodesTurnedUnknown).toBe(0);
    }
  });
});

describe('a load balancer of the whole seed that fails', () => {
  it.each(['refused', 'silent'] as const)(
    'is no fault on our side (%s), and no shoot waits for its leases',
    async (how) => {
      create('trigger');
      const { clock, world } = scenario;
      scenario.startProber();
      await clock.advance(60_000);
      for (const name of names) cutLoadBalancer(scenario, name, how);
      await clock.advance(how === 'refused' ? 23_000 : 33_000);
      for (const name of names) expect(stateOf(scenario, name), name).toEqual(allHeld);
      await clock.advance(300_000);
      expect(aboutOurs()).toEqual([]);
      for (const name of names) mendLoadBalancer(scenario, name);
      await clock.advance(150_000);
      for (const name of names) {
        expect(stateOf(scenario, name)).toEqual(allUp);
        expect(world.shoot(name).impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
      }
      expect(scenario.changes).toHaveLength(6 * names.length);
    },
  );
});

describe('a changed configuration', () => {
  const outside = (mode: ExternalProbeMode) => ({ externalProbe: externalProbe(mode) });
  /** Configured without the external probe, although every shoot has a kubeconfig for it. */
  const createWithout = (): Scenario => {
    scenario = createScenario({ shoots: names.map((name) => ({ name })) });
    for (const name of names) publishExternalKubeconfig(scenario, name);
    return scenario;
  };

  it('starts the external probe, changes its mode, and ends it', async () => {
    createWithout();
    const { clock, world } = scenario;
    const { requests } = scenario.publicConnection('a');
    scenario.startProber();
    await clock.advance(60_000);
    expect(requests.total()).toBe(0);
    scenario.reload(outside('observe'));
    await clock.advance(30_000);
    expect(requests.total()).toBeGreaterThan(0);
    scenario.reload(outside('confirm'));
    await clock.advance(5_000);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(scenario.changes).toEqual([]);
    expect(await unknown('a')).toBe(0);
    scenario.reload({});
    await clock.advance(5_000);
    requests.reset();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(requests.total()).toBe(0);
    expect(await unknown('a')).toBeUndefined();
  });

  it('keeps the states of the addresses, and does not log a fault on our side again', async () => {
    createWithout();
    const { clock } = scenario;
    scenario.startProber(outside('observe'));
    await clock.advance(60_000);
    breakPaths(names, 'refused');
    await clock.advance(120_000);
    const before = externalProbeLogLines(scenario).length;
    scenario.reload({ probeIntervalMs: 9_000, ...outside('trigger') });
    await clock.advance(1_000);
    expect(await isOurs()).toBe(1);
    await clock.advance(60_000);
    expect(externalProbeLogLines(scenario)).toHaveLength(before);
    scenario.reload({});
    await clock.advance(10_000);
    expect(await isOurs()).toBe(0);
  });
});

describe('a changed Secret name', () => {
  it('resets the states of the addresses to unknown', async () => {
    create('observe');
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    expect(await unknown('a')).toBe(0);
    scenario.reload({ externalProbe: externalProbe('observe', { kubeConfigSecretName: 'other' }) });
    await clock.advance(500);
    for (const name of names) expect(await unknown(name)).toBe(1);
  });
});

describe('a shoot that is no longer probed', () => {
  it('has no series of its address, which is no longer tried', async () => {
    create('trigger');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    const { metadata } = world.store.list(simKinds.Cluster)[0]!;
    world.store.remove(simKinds.Cluster, metadata);
    await clock.advance(1_000);
    const { requests } = scenario.publicConnection('a');
    requests.reset();
    await clock.advance(60_000);
    expect(requests.total()).toBe(0);
    expect(await scenario.meter().metricsText()).not.toMatch(/outside_path_\w+\{.*shoot--sim--a/);
  });
});

describe('a dry run', () => {
  it('logs what the trigger would have done', async () => {
    create('trigger', { shoots: [{ name: 'a' }] });
    const { clock } = scenario;
    scenario.startProber({}, { dryRun: true });
    await clock.advance(60_000);
    cutLoadBalancer(scenario, 'a', 'refused');
    await clock.advance(25_000);
    expect(scenario.changes).toEqual([]);
    const logged = scenario.log.filter(({ msg }) => msg === 'would have scaled down');
    expect(logged).toHaveLength(3);
    expect(logged[0]?.reason).toContain('the outside path is broken');
  });
});

describe('Secrets', () => {
  const watches = (): number => scenario.seedConnection.requests.total({ verb: 'watch', resource: 'secrets' });

  it.each([
    ['another name', undefined, 2],
    ['the same name', kubeconfigSecretName, 1],
  ])('of %s are watched by %s', async (_, kubeConfigSecretName, count) => {
    const given = kubeConfigSecretName === undefined ? {} : { kubeConfigSecretName };
    create('observe', { settings: { externalProbe: externalProbe('observe', given) } });
    scenario.startProber();
    await scenario.clock.advance(60_000);
    expect(watches()).toBe(count);
    expect(await unknown('a')).toBe(0);
  });

  it('of the external probe are awaited at the start', async () => {
    create('observe');
    const { clock } = scenario;
    scenario.seedConnection.setFaults(({ query }) =>
      query?.fieldSelector === 'metadata.name=outside-kubeconfig' && query.watch === undefined
        ? { delayMs: 6_000 }
        : undefined,
    );
    scenario.startProber();
    await clock.advance(60_000);
    expect(externalProbeLogLines(scenario).filter((line) => line.includes('cannot be judged'))).toEqual([]);
  });

  it('of the external probe that cannot be watched leave no shoot unprotected', async () => {
    create('trigger');
    const { clock, world } = scenario;
    scenario.seedConnection.setFaults(({ query }) =>
      query?.fieldSelector === 'metadata.name=outside-kubeconfig' ? { status: 403 } : undefined,
    );
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(45_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(await unknown('a')).toBe(1);
  });
});
