import { expect, it } from 'vitest';
import { gardenSettings } from '../harness/settings.ts';
import { type RehearsalPlan, planRehearsal } from './plan.ts';
import type { CountChange, RehearsalRecord } from './play.ts';
import { judgeRehearsal } from './result.ts';

const planOf = (fault: 'lb' | 'shoot-lb'): RehearsalPlan => {
  const plan = planRehearsal({
    ...{ settings: gardenSettings, shoots: 3, nodes: 4, fault, durationMs: 900_000, seed: 1 },
    limits: { qps: 5, burst: 10 },
  });
  return (plan as { readonly value: RehearsalPlan }).value;
};

const change = (
  at: number,
  name: 'kcm' | 'mcm',
  [from, to]: readonly [number, number],
  shoot: string,
): CountChange => ({
  ...{ at, shoot, from, to },
  resource: `Deployment/${name}`,
  isManager: name === 'kcm',
});
const down = (at: number, name: 'kcm' | 'mcm', shoot = 's1'): CountChange => change(at, name, [1, 0], shoot);
const up = (at: number, name: 'kcm' | 'mcm', shoot = 's1'): CountChange => change(at, name, [0, 1], shoot);

const lost = (firstLossAt: number) => ({ nodesTurnedUnknown: 4, firstLossAt, machinesReplaced: 1 });
const unharmed = { nodesTurnedUnknown: 0, machinesReplaced: 0 };
const impacts = new Map([
  ['s1', lost(100_000)],
  ['s2', lost(101_000)],
  ['s3', unharmed],
]);
const judge = (
  changes: readonly CountChange[],
  others: Partial<RehearsalRecord> = {},
  fault: 'lb' | 'shoot-lb' = 'lb',
) =>
  judgeRehearsal(planOf(fault), {
    without: { changes: [], impacts, endedAt: 400_000 },
    with: { changes, impacts: new Map([['s1', unharmed]]), endedAt: 400_000, ...others },
  });

it('measures the time from the scale-down of KCM to the first loss without it, in each shoot that it threatens', () => {
  const both = [down(88_200, 'mcm'), down(89_000, 'kcm'), down(94_999.7, 'kcm', 's2')];
  const restored = [up(365_000, 'kcm'), up(400_000, 'mcm'), up(370_000, 'kcm', 's2')];
  const result = judge([...both, ...restored]);
  expect(result).toMatchObject({ threatened: 2, heldShoots: 2, needless: 0, unrestored: 0, isProtected: true });
  // The lower of the two middle values is the median.
  expect(result.margin).toEqual({ leastMs: 6_000, medianMs: 6_000 });
  expect(result.without).toEqual({ nodesLost: 8, machinesReplaced: 2 });
});

it.each<readonly [string, readonly CountChange[], Partial<RehearsalRecord>, object]>([
  ['a scale-down of KCM after the first loss', [down(103_000, 'kcm')], {}, { margin: { leastMs: -3_000 } }],
  ['none after the outage as a hold', [down(361_000, 'kcm')], {}, { heldShoots: 0, margin: undefined }],
  [
    'the first of several scale-downs',
    [down(90_000, 'kcm'), up(200_000, 'kcm'), down(201_000, 'kcm')],
    {},
    { margin: { leastMs: 10_000 } },
  ],
  ['scaling before the outage', [down(30_000, 'mcm'), up(40_000, 'mcm')], {}, { needless: 1, isProtected: false }],
  ['a shoot that stays down once', [down(88_500, 'mcm'), down(89_000, 'kcm')], {}, { unrestored: 1 }],
  [
    'nodes that are lost',
    [],
    { impacts },
    { isProtected: false, heldShoots: 0, with: { nodesLost: 8, machinesReplaced: 2 } },
  ],
])('counts %s', (_, changes, others, expected) => {
  expect(judge(changes, others)).toMatchObject(expected);
});

it('counts scaling as needless in a shoot that the fault does not strike, but not in one that loses nothing', () => {
  const changes = [down(88_000, 'kcm', 's3'), up(400_000, 'kcm', 's3')];
  expect([judge(changes).needless, judge(changes, {}, 'shoot-lb').needless]).toEqual([0, 1]);
});
