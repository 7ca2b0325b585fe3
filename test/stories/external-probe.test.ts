import { afterEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario, ScenarioOptions } from '../../simulator/harness/scenario.ts';
import {
  createExternalProbeScenario,
  cutLoadBalancer,
  externalProbe,
  mendLoadBalancer,
  metricOf,
  externalSecretName,
  publishExternalKubeconfig,
  externalProbeLogLines,
} from '../../simulator/harness/external-probe-support.ts';
import { allHeld, allUp, stateOf } from '../../simulator/harness/support.ts';
import type { ExternalProbeMode } from '../../src/prober/config/settings.ts';

let scenario: Scenario;
const create = (mode: ExternalProbeMode, options: Partial<ScenarioOptions> = {}): Scenario => {
  scenario = createExternalProbeScenario(mode, { shoots: [{ name: 'a' }], ...options });
  return scenario;
};
afterEach(() => scenario.stop());

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
      if (seed < 9) await scenario.stop();
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
  interface Cut {
    readonly how: 'refused' | 'silent';
    readonly timeoutMs: number;
    readonly seed: number;
  }

  const scaledAfter = async (mode: ExternalProbeMode, { how, timeoutMs, seed }: Cut): Promise<number> => {
    create(mode, { seed, settings: { externalProbe: externalProbe(mode, { timeoutMs }), allSilentAfterMs: 0 } });
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(60_000 + 1_700 * seed);
    cutLoadBalancer(scenario, 'a', how);
    const cutAt = clock.monotonic();
    await clock.runUntil(() => scenario.changes.length > 0);
    return scenario.changes[0]!.at - cutAt;
  };

  it.each([
    ['refused', 5_000],
    ['silent', 5_000],
    ['silent', 2_000],
  ] as const)(
    'is earlier than single leases, and never later by more than a second (%s, timeout %i ms)',
    async (how, timeoutMs) => {
      const gains: number[] = [];
      for (let seed = 0; seed < 12; seed += 1) {
        const byLeases = await scaledAfter('observe', { how, timeoutMs, seed });
        await scenario.stop();
        gains.push((byLeases - (await scaledAfter('trigger', { how, timeoutMs, seed }))) / 1_000);
        if (seed < 11) await scenario.stop();
      }
      const sum = gains.reduce((a, b) => a + b, 0);
      const summary = `at least ${Math.min(...gains).toFixed(1)}, on average ${(sum / gains.length).toFixed(1)}, at most ${Math.max(...gains).toFixed(1)} s`;
      process.stdout.write(`load balancer ${how}, timeout ${String(timeoutMs)} ms: trigger is earlier by ${summary}\n`);
      // The run that an unreachable address causes moves the runs after it, by a second at most.
      expect(Math.min(...gains)).toBeGreaterThanOrEqual(-1.1);
      expect(sum).toBeGreaterThan(0);
    },
  );

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

  it('keeps resources held until a node renews, although the address is reachable again', async () => {
    create('trigger');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    cutLoadBalancer(scenario, 'a', 'refused');
    await clock.runUntil(() => scenario.changes.length === 3);
    world.shoot('a').api.publicAddress.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toHaveLength(3);
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(scenario.changes).toHaveLength(6);
  });

  it('scales up when leases are renewed, although the address is still unreachable', async () => {
    create('trigger');
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    cutLoadBalancer(scenario, 'a', 'refused');
    await clock.advance(60_000);
    world.shoot('a').restoreKubelets();
    await clock.advance(150_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(scenario.changes).toHaveLength(6);
  });

  it('needs more than one candidate', async () => {
    create('trigger', { shoots: [{ name: 'a', nodes: 1 }] });
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    cutLoadBalancer(scenario, 'a', 'refused');
    await clock.advance(300_000);
    expect(scenario.changes).toEqual([]);
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
    await scenario.stop();
    expect(await runs(true)).toEqual(expected);
    expect(expected).toHaveLength(3);
  });
});

describe('a kubeconfig that cannot be used', () => {
  const cases: readonly (readonly [what: string, breakIt: (scenario: Scenario) => void])[] = [
    ['is missing', ({ world }) => world.store.remove(simKinds.Secret, { namespace: ns, name: externalSecretName })],
    ['is broken', (broken) => publishExternalKubeconfig(broken, 'a', 'clusters: [\n')],
    [
      'would run a command',
      (broken) => {
        const text = broken.world.shoot('a').api.publicAddress.kubeconfig();
        publishExternalKubeconfig(broken, 'a', text.replace(/ {4}token: .*/, '    exec: {command: "id"}'));
      },
    ],
  ];

  it.each(cases.flatMap(([what, breakIt]) => modes.map((mode) => [what, mode, breakIt] as const)))(
    '(it %s) makes the address unknown in mode %s: only the leases are judged, and it is logged once',
    async (_, mode, breakIt) => {
      create(mode);
      const { clock, world } = scenario;
      breakIt(scenario);
      scenario.startProber();
      await clock.advance(120_000);
      expect(externalProbeLogLines(scenario)).toEqual([`warn the external probe cannot be made ${ns} unknown`]);
      expect(await stateMetric('unknown')).toBe(1);
      world.shoot('a').cutKubelets();
      await clock.advance(60_000);
      expect(stateOf(scenario, 'a')).toEqual(allHeld);
      const token = /token: "(.*)"/.exec(world.shoot('a').api.kubeconfig())![1];
      expect(JSON.stringify(scenario.log)).not.toContain(token);
      publishExternalKubeconfig(scenario, 'a');
      await clock.advance(15_000);
      expect(await stateMetric('reachable')).toBe(1);
    },
  );
});
