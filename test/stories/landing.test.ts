import { beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, reachOutage, stateOf, changeLines } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
let reconnectedAt: number;
beforeEach(async () => {
  scenario = createStory({ shoots: [{ name: 'a', nodes: 10 }] });
  await reachOutage(scenario);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
});

const nodes = (): readonly string[] =>
  scenario.world
    .shoot('a')
    .store.list(simKinds.Node)
    .map(({ metadata }) => metadata.name);

/** Reconnects the kubelet of each node after its delay in milliseconds. Kubelets without an entry stay cut off. */
const bringBack = async (delays: readonly number[]): Promise<void> => {
  const { clock, world } = scenario;
  const names = nodes();
  reconnectedAt = clock.monotonic();
  for (const delay of [...new Set(delays)].sort((a, b) => a - b)) {
    await clock.advance(reconnectedAt + delay - clock.monotonic());
    world.shoot('a').restoreKubelets();
    world.shoot('a').cutKubelets(names.filter((_, index) => (delays[index] ?? Number.POSITIVE_INFINITY) > delay));
  }
};

/** Seconds from the return of the first kubelet to the start of KCM; undefined while it is held. */
const kcmStartedAfter = (): number | undefined => {
  const start = scenario.changes.find(({ name, to }) => name === 'kube-controller-manager' && to === 1);
  return start && (start.at - reconnectedAt) / 1_000;
};

const unharmed = { nodesTurnedUnknown: 0, machinesReplaced: 0 };

describe('held resources are restored without the loss of a node', () => {
  it.each<{ readonly what: string; readonly delays: readonly number[]; readonly atLeast: number }>([
    { what: 'all come back at once', delays: Array.from({ length: 10 }, () => 0), atLeast: 0 },
    {
      what: 'half of them a minute late',
      delays: [0, 0, 0, 0, 0, 1, 1, 1, 1, 1].map((late) => late * 60_000),
      atLeast: 60,
    },
    {
      what: 'one after the other within 90 s',
      delays: Array.from({ length: 10 }, (_, index) => index * 10_000),
      atLeast: 90,
    },
  ])('when $what', async ({ delays, atLeast }) => {
    await bringBack(delays);
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(kcmStartedAfter()).toBeGreaterThanOrEqual(atLeast);
    expect(scenario.world.shoot('a').impact()).toEqual(unharmed);
  });
});

it('while the network flaps, KCM starts at most once, and resources stay held until two minutes without a fault', async () => {
  const { clock, world } = scenario;
  const shoot = world.shoot('a');
  for (let period = 0; period < 9; period += 1) {
    shoot.restoreKubelets();
    await clock.advance(10_000);
    shoot.cutKubelets();
    await clock.advance(35_000);
  }
  const starts = () => changeLines(scenario.changes).filter((change) => change.startsWith('kcm 0->1')).length;
  expect(starts()).toBeLessThanOrEqual(1);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  shoot.restoreKubelets();
  await clock.advance(115_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  await clock.advance(120_000);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
  expect(starts()).toBeLessThanOrEqual(2);
  expect(shoot.impact()).toEqual(unharmed);
  expect(scenario.log.filter(({ msg }) => msg.startsWith('flapping'))).toHaveLength(1);
});

it('a new prober that has not yet listed held resources also waits for late kubelets', async () => {
  await scenario.stopProber();
  scenario.seedConnection.setFaults(({ path, query }) =>
    path.endsWith('/deployments') && query?.watch === undefined ? { delayMs: 25_000 } : undefined,
  );
  scenario.startProber();
  await bringBack([0, 0, 0, 0, 0, 1, 1, 1, 1, 1].map((late) => late * 60_000));
  await scenario.clock.advance(120_000);
  expect(kcmStartedAfter()).toBeGreaterThanOrEqual(60);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
  expect(scenario.world.shoot('a').impact()).toEqual(unharmed);
});
