import { afterEach, expect, it } from 'vitest';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import { allHeld, stateOf } from '../../simulator/harness/support.ts';
import { requestKind } from '../../simulator/network/counting.ts';
import type { FaultRule } from '../../simulator/network/faults.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';

let scenario: Scenario | undefined;
afterEach(() => scenario?.stop());

interface Met {
  /** Time from the cut of the kubelets until all resources are held, in milliseconds; undefined if not within 90 s. */
  readonly heldMs: number | undefined;
  /** True if all resources were held and KCM marked no node. */
  readonly isInTime: boolean;
}

const playOne = async (seed: number, rule: FaultRule): Promise<Met> => {
  const played = createScenario({ shoots: [{ name: 'a' }], seed });
  scenario = played;
  const { clock, world } = played;
  played.startProber();
  await clock.advance(60_000);
  played.shootConnection('a').setFaults(rule);
  await clock.advance(60_000 + 700 * seed);
  const cutAt = clock.monotonic();
  world.shoot('a').cutKubelets();
  const isHeld = (): boolean => stateOf(played, 'a').join() === allHeld.join();
  while (!isHeld() && clock.monotonic() < cutAt + 90_000) await clock.advance(250);
  const heldMs = isHeld() ? clock.monotonic() - cutAt : undefined;
  const { nodesTurnedUnknown } = world.shoot('a').impact();
  await played.stop();
  return { heldMs, isInTime: heldMs !== undefined && nodesTurnedUnknown === 0 };
};

const outages = 50;

/** Returns the share of outages in which no node was lost, and the longest time until all resources were held. */
const playAll = async (what: string, ruleOf: (seed: number) => FaultRule) => {
  const all: Met[] = [];
  for (let seed = 1; seed <= outages; seed += 1) all.push(await playOne(seed, ruleOf(seed)));
  const inTime = all.filter(({ isInTime }) => isInTime).length;
  const times = all.map(({ heldMs = Number.POSITIVE_INFINITY }) => heldMs).toSorted((a, b) => a - b);
  const [median = Number.NaN, latest = Number.NaN] = [times[outages / 2], times.at(-1)];
  process.stdout.write(
    `${what}: ${String(inTime)} of ${String(outages)} outages met in time; held after ${String(median)} ms (median), ${String(latest)} ms (latest)\n`,
  );
  return { inTime: inTime / outages, latest };
};

it('with 40 % of responses 500, the prober acts before KCM in nine of ten outages', { timeout: 120_000 }, async () => {
  const { inTime } = await playAll('40 % of all answers 500', (seed) => {
    const random = createSeededRandom(`answers/${String(seed)}`);
    return () => (random.next() < 0.4 ? { status: 500 } : undefined);
  });
  expect(inTime).toBeGreaterThanOrEqual(0.9);
});

it.each([
  { delayMs: 3_000, share: 0.9, latestMs: 42_000 },
  // The prober needs two responses after the threshold. KCM acts first, because nodes fall silent up to 10 s apart.
  { delayMs: 9_000, share: 0, latestMs: 60_000 },
])('with responses $delayMs ms late, resources are held', { timeout: 120_000 }, async ({ delayMs, ...least }) => {
  const { inTime, latest } = await playAll(`every answer ${String(delayMs)} ms late`, () => () => ({ delayMs }));
  expect(inTime).toBeGreaterThanOrEqual(least.share);
  expect(latest).toBeLessThanOrEqual(least.latestMs);
});

it.each([
  { delayMs: 2_500, late: 'lists of leases' },
  { delayMs: 1_400, late: 'all responses' },
])('$late that take $delayMs ms fit into a probeTimeout of 4 s, also in an outage', async ({ delayMs, late }) => {
  scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world } = scenario;
  scenario.startProber({ probeTimeoutMs: 4_000, probeIntervalMs: 1_000 });
  await clock.advance(30_000);
  const isLate: (resource: string) => boolean = late === 'all responses' ? () => true : (name) => name === 'leases';
  scenario
    .shootConnection('a')
    .setFaults((request) => (isLate(requestKind(request).resource) ? { delayMs } : undefined));
  await clock.advance(30_000);
  world.shoot('a').cutKubelets();
  await clock.advance(60_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
});

it('a run waits for a response that takes 9 s, and sends requests in parallel', async () => {
  scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock } = scenario;
  const line = scenario.shootConnection('a');
  const asked: (readonly [string, number])[] = [];
  line.setFaults((request) => {
    asked.push([requestKind(request).resource, clock.monotonic()]);
    return { delayMs: 9_000 };
  });
  scenario.startProber({ probeIntervalMs: 10_000 });
  await clock.advance(90_000);
  const versions = asked.filter(([resource]) => resource === '/version');
  const lists = asked.filter(([resource]) => resource === 'leases');
  // After 5 s a second request goes out beside the first, whose answer counts. From the second run on, leases are listed together with the version.
  expect(versions[1]![1] - versions[0]![1]).toBe(5_000);
  expect(lists[0]![1]).toBe(versions[0]![1] + 9_000);
  const times = (of: typeof asked): readonly number[] => of.slice(2).map(([, at]) => at);
  expect(times(lists).filter((at) => times(versions).includes(at))).toEqual(times(versions));
  expect(lists.length).toBeGreaterThan(3);
});
