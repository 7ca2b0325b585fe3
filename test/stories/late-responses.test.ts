import { expect, it } from 'vitest';
import { allHeld, stateOf } from '../../simulator/harness/support.ts';
import type { FaultRule } from '../../simulator/network/faults.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { createStory } from './support/story.ts';

interface Met {
  /** Time from the cut of the kubelets until all resources are held, in milliseconds; undefined if not within 90 s. */
  readonly heldMs: number | undefined;
  /** True if all resources were held and KCM marked no node. */
  readonly isInTime: boolean;
}

const playOne = async (seed: number, rule: FaultRule): Promise<Met> => {
  const played = createStory({ seed });
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
  return { heldMs, isInTime: heldMs !== undefined && nodesTurnedUnknown === 0 };
};

const outages = 20;

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
