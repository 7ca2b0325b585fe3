import { afterEach, describe, expect, it } from 'vitest';
import { type Scenario, type ScenarioOptions, createScenario } from '../../simulator/harness/scenario.ts';
import { allHeld, stateOf } from '../../simulator/harness/support.ts';
import type { RequestFault } from '../../simulator/network/faults.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';

let scenario: Scenario;
const create = (options: Partial<ScenarioOptions> = {}): Scenario => {
  scenario = createScenario({ shoots: [{ name: 'a' }], ...options });
  return scenario;
};
afterEach(() => scenario.stop());

const error = (code: string): RequestFault => ({
  error: new ApiError({ code: 'ConnectionError', message: code, cause: { code, phase: 'connecting' } }),
});

/** Faults that cut only the prober off from the API server. Each starts the fault and returns the function that ends it. */
const ours: readonly (readonly [string, () => () => void])[] = [
  ...(
    [
      ['refused', error('ECONNREFUSED')],
      ['reset', error('ECONNRESET')],
      ['no such host', error('ENOTFOUND')],
      ['a certificate that has expired', error('CERT_HAS_EXPIRED')],
      ['packets that are lost', { unconnectedMs: 10_000 }],
    ] as const
  ).map(([what, fault]) => {
    const begin = () => {
      const line = scenario.shootConnection('a');
      line.setFaults(() => fault);
      return () => line.setFaults(undefined);
    };
    return [what, begin] as const;
  }),
  [
    'an address that is wrong',
    () => {
      const shoot = scenario.world.shoot('a');
      shoot.publishKubeconfig(shoot.api.kubeconfig().replaceAll(shoot.api.address().url, 'https://nowhere.simulated'));
      return () => shoot.publishKubeconfig();
    },
  ],
  [
    'a token that has expired',
    () => {
      const shoot = scenario.world.shoot('a');
      shoot.api.rotateToken();
      return () => shoot.publishKubeconfig();
    },
  ],
];

/** Maximum duration until all is held: an interval with jitter, the confirmation, and the lists and writes. */
const latestMs = 12_000 + 5_000 + 2_000;

const heldWithin = async (ms: number): Promise<boolean> => {
  const until = scenario.clock.monotonic() + ms;
  const isHeld = (): boolean => stateOf(scenario, 'a').join() === allHeld.join();
  while (!isHeld() && scenario.clock.monotonic() < until) await scenario.clock.advance(500);
  return isHeld();
};

describe('an outage during which the prober is cut off too', () => {
  it.each(ours)('(%s) leads to a scale-down as soon as the prober is connected again', async (_, begin) => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    const end = begin();
    world.shoot('a').cutKubelets();
    await clock.advance(45_000);
    expect(scenario.changes).toEqual([]);
    end();
    expect(await heldWithin(latestMs)).toBe(true);
  });

  it.each(ours)('(%s) scales nothing if it is over when the prober is connected again', async (_, begin) => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    const end = begin();
    world.shoot('a').cutKubelets();
    await clock.advance(45_000);
    world.shoot('a').restoreKubelets();
    await clock.advance(10_000);
    end();
    await clock.advance(60_000);
    expect(scenario.changes).toEqual([]);
  });
});

describe('an API server that is down, and a prober', () => {
  it.each([10_000, 20_000, 40_000])('that starts %i ms before the server is back: no outage', async (beforeMs) => {
    create();
    const { clock, world } = scenario;
    world.shoot('a').api.setReachability('refused');
    await clock.advance(60_000 - beforeMs);
    scenario.startProber();
    await clock.advance(beforeMs);
    world.shoot('a').api.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toEqual([]);
  });

  it('that probes every 30 s and may not notice: no outage', async () => {
    for (const offsetMs of [1_000, 3_000, 5_000]) {
      create({ settings: { probeIntervalMs: 30_000, backoffJitterFactor: 0 }, seed: offsetMs });
      const { clock, world } = scenario;
      scenario.startProber();
      await clock.advance(60_000 + offsetMs);
      world.shoot('a').api.setReachability('refused');
      await clock.advance(25_000);
      world.shoot('a').api.setReachability('open');
      await clock.advance(90_000);
      expect(scenario.changes).toEqual([]);
      await scenario.stop();
    }
  });
});
