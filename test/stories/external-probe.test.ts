import { describe, expect, it, onTestFinished } from 'vitest';
import type { Scenario, ScenarioOptions } from '../../simulator/harness/scenario.ts';
import {
  createExternalProbeScenario,
  cutLoadBalancer,
  mendLoadBalancer,
  metricOf,
  publishExternalKubeconfig,
  externalProbeLogLines,
} from '../../simulator/harness/external-probe-support.ts';
import { allHeld, allUp, editShoot, stateOf } from '../../simulator/harness/support.ts';
import type { ExternalProbeMode } from '../../src/prober/config/settings.ts';

let scenario: Scenario;
const create = (mode: ExternalProbeMode, options: Partial<ScenarioOptions> = {}): Scenario => {
  const created = createExternalProbeScenario(mode, { shoots: [{ name: 'a' }], ...options });
  onTestFinished(() => created.stop());
  scenario = created;
  return created;
};

const modes = ['observe', 'trigger'] as const;
const ns = 'shoot--sim--a';
const stateMetric = (state: string): Promise<number | undefined> =>
  metricOf(scenario, `dwd_prober_external_probe_state{namespace="${ns}",state="${state}"}`);

describe('a reachable external address', () => {
  it.each(modes)('costs one try per interval, each over a new connection, in mode %s', async (mode) => {
    create(mode);
    const { clock } = scenario;
    const [inside, outside] = [scenario.shootConnection('a'), scenario.publicConnection('a')];
    scenario.startProber();
    await clock.advance(30_000);
    inside.requests.reset();
    outside.requests.reset();
    const before = outside.connections();
    await clock.advance(600_000);
    const tries = outside.requests.total();
    expect(Object.fromEntries(outside.requests.byKey)).toEqual({ 'get /version': tries });
    expect(tries).toBeGreaterThanOrEqual(50);
    expect(tries).toBeLessThanOrEqual(60);
    expect(outside.connections() - before).toBe(tries);
    expect(externalProbeLogLines(scenario)).toEqual([`info external probe ${ns} reachable`]);
    expect(await stateMetric('reachable')).toBe(1);
    expect(await stateMetric('unreachable')).toBe(0);
    expect(scenario.changes).toEqual([]);
  });
});

it('an address is tried again when the shoot is probed again before all is given back', async () => {
  create('observe');
  const { clock } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  cutLoadBalancer(scenario, 'a', 'refused');
  await clock.advance(60_000);
  const edits: Parameters<typeof editShoot>[2][] = [];
  editShoot(scenario, 'a', (former) => {
    edits.push(() => former);
    return { ...former, spec: { ...former.spec, provider: { workers: [] } } };
  });
  await clock.advance(1_000);
  expect(stateOf(scenario, 'a')).not.toEqual(allUp);
  editShoot(scenario, 'a', edits[0]!);
  scenario.publicConnection('a').requests.reset();
  await clock.advance(30_000);
  expect(scenario.publicConnection('a').requests.total()).toBeGreaterThan(0);
});

describe('a load balancer that fails', () => {
  it.each(modes.flatMap((mode) => (['refused', 'silent'] as const).map((how) => [mode, how] as const)))(
    'leads to a scale-down in mode %s (%s), and its return to a restoration',
    async (mode, how) => {
      create(mode);
      const { clock, world } = scenario;
      scenario.startProber();
      await clock.advance(60_000);
      cutLoadBalancer(scenario, 'a', how);
      await clock.advance(60_000);
      expect(stateOf(scenario, 'a')).toEqual(allHeld);
      expect(await stateMetric('unreachable')).toBe(1);
      expect(scenario.status(ns)).toMatchObject({ shoots: [{ publicAddress: 'unreachable' }] });
      await clock.advance(600_000);
      expect(scenario.changes).toHaveLength(3);
      mendLoadBalancer(scenario, 'a');
      await clock.advance(150_000);
      expect(stateOf(scenario, 'a')).toEqual(allUp);
      expect(scenario.changes).toHaveLength(6);
      expect(world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
      expect(externalProbeLogLines(scenario)).toEqual([
        `info external probe ${ns} reachable`,
        `warn external probe ${ns} unreachable`,
        `info external probe ${ns} reachable`,
      ]);
    },
  );
});

describe('an external address that is unreachable while kubelets renew', () => {
  it.each(modes.flatMap((mode) => (['refused', 'silent'] as const).map((how) => [mode, how] as const)))(
    'scales nothing in mode %s (%s)',
    async (mode, how) => {
      create(mode, { shoots: [{ name: 'a', nodes: 2 }] });
      const { clock, world } = scenario;
      scenario.startProber();
      await clock.advance(60_000);
      world.shoot('a').api.publicAddress.setReachability(how);
      await clock.advance(1_800_000);
      expect(scenario.changes).toEqual([]);
      expect(await stateMetric('unreachable')).toBe(1);
    },
  );

  it('scales nothing after a restart of the API server either, in any phase of the probes', async () => {
    for (let seed = 0; seed < 10; seed += 1) {
      create('trigger', { seed, shoots: [{ name: 'a', nodes: 2 }] });
      const { clock, world } = scenario;
      scenario.startProber();
      await clock.advance(60_000 + 1_300 * seed);
      world.shoot('a').api.setReachability('refused');
      await clock.advance(9_000);
      world.shoot('a').api.setReachability('open');
      await clock.advance(120_000);
      expect(scenario.changes, `seed ${String(seed)}`).toEqual([]);
    }
  });
});

describe('a NAT gateway near the nodes that breaks, while the load balancer answers everybody else,', () => {
  it.each(modes)('leads to a scale-down in time, in mode %s: a reachable address vetoes nothing', async (mode) => {
    create(mode);
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
    expect(await stateMetric('reachable')).toBe(1);
  });
});

describe('mode trigger', () => {
  it('logs the reason, and reports how much of the grace period is left', async () => {
    create('trigger');
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    cutLoadBalancer(scenario, 'a', 'refused');
    await clock.advance(30_000);
    const down = scenario.log.find(({ msg }) => msg === 'scaled down');
    expect(down?.reason).toMatch(/^none of 5 candidates has renewed for 1\d\.\d s$/);
    expect(await metricOf(scenario, `dwd_prober_grace_left_seconds{namespace="${ns}"}`)).toBeGreaterThan(10);
  });

  it.each([true, false])('restores when leases are renewed, and not before, address open: %s', async (isOpen) => {
    create('trigger');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    cutLoadBalancer(scenario, 'a', 'refused');
    await clock.runUntil(() => scenario.changes.length === 3);
    if (isOpen) world.shoot('a').api.publicAddress.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toHaveLength(3);
    world.shoot('a').restoreKubelets();
    await clock.advance(150_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(scenario.changes).toHaveLength(6);
  });
});

describe('a try that hangs', () => {
  it('does not delay the judgement of the leases', async () => {
    const runs = async (hangs: boolean): Promise<readonly unknown[]> => {
      create('observe', { settings: { backoffJitterFactor: 0 } });
      const { clock, world } = scenario;
      scenario.startProber();
      await clock.advance(30_000);
      if (hangs) world.shoot('a').api.publicAddress.setReachability('silent');
      await clock.advance(30_000);
      world.shoot('a').cutKubelets();
      await clock.advance(60_000);
      return scenario.changes.map(({ name, at }) => [name, at]);
    };
    const expected = await runs(false);
    expect(await runs(true)).toEqual(expected);
    expect(expected).toHaveLength(3);
  });
});

it.each(modes)(
  'a kubeconfig that cannot be used makes the address unknown in mode %s: only the leases are judged, and it is logged once',
  async (mode) => {
    create(mode);
    const { clock, world } = scenario;
    const text = world.shoot('a').api.publicAddress.kubeconfig();
    publishExternalKubeconfig(scenario, 'a', text.replace(/ {4}token: .*/, '    exec: {command: "id"}'));
    scenario.startProber();
    await clock.advance(120_000);
    expect(externalProbeLogLines(scenario)).toEqual([`warn the external probe cannot be made ${ns} unknown`]);
    expect(await stateMetric('unknown')).toBe(1);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    publishExternalKubeconfig(scenario, 'a');
    await clock.advance(15_000);
    expect(await stateMetric('reachable')).toBe(1);
  },
);
