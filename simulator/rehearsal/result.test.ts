import { describe, expect, it } from 'vitest';
import { gardenSettings } from '../harness/settings.ts';
import type { FaultName } from './faults.ts';
import { type RehearsalPlan, planRehearsal } from './plan.ts';
import type { CountChange, RehearsalRecord } from './play.ts';
import { judgeRehearsal } from './result.ts';

const planOf = (fault: FaultName = 'lb'): RehearsalPlan => {
  const limits = { qps: 5, burst: 10 };
  const plan = planRehearsal({
    settings: gardenSettings,
    shoots: 2,
    nodes: 4,
    fault,
    durationMs: 900_000,
    seed: 1,
    limits,
  });
  if (!plan.ok) throw new Error(plan.error);
  return plan.value;
};

const change = (at: number, name: string, [from, to]: readonly [number, number], shoot = 's1'): CountChange => ({
  at,
  shoot,
  key: `apps/v1/Deployment/${name}`,
  from,
  to,
});
const [kcm, mcm] = ['kube-controller-manager', 'machine-controller-manager'];
const down = (at: number, name: string, shoot?: string): CountChange => change(at, name, [1, 0], shoot);
const up = (at: number, name: string, shoot?: string): CountChange => change(at, name, [0, 1], shoot);

const quiet: RehearsalRecord = {
  struck: [],
  changes: [],
  impacts: new Map(),
  requests: { seed: new Map(), shoots: new Map() },
  endedAt: 400_000,
};

/** The last renewal is at 59 s, so the threshold is reached at 79 s. The grace period of the first node ends at 90 s. */
const struck = [{ shoot: 's1', renewals: [50_000, 54_000, 58_000, 59_000], nodes: 4 }];
const judge = (record: Partial<RehearsalRecord>, plan = planOf()) =>
  judgeRehearsal(plan, { without: quiet, with: { ...quiet, struck, ...record } });

const spreads = (result: ReturnType<typeof judge>): Readonly<Record<string, number>> =>
  Object.fromEntries(result.timeline.map(({ what, spread }) => [what, spread.firstMs]));

describe('the judgement of a record', () => {
  it('shows the race of each shoot, in times since the beginning of the outage', () => {
    const changes = [down(88_200, mcm), down(89_000, kcm), up(365_000, kcm), up(400_000, mcm)];
    const result = judge({ changes });
    expect(spreads(result)).toEqual({
      'threshold crossed': 19_000,
      'first scale-down': 28_200,
      'last scale-down': 29_000,
      'kube-controller-manager scaled down': 29_000,
      "KCM's grace over for the first node": 30_000,
      'outage ends': 300_000,
      'kube-controller-manager restored': 305_000,
      'machine-controller-manager restored': 340_000,
    });
    expect(result).toMatchObject({ margin: { leastMs: 1_000, medianMs: 1_000 }, threatened: 1, heldShoots: 1 });
    expect(result).toMatchObject({ unrestored: 0, needless: 0, isProtected: true });
  });

  it('does not count a scale-down after the outage as part of the race', () => {
    expect(spreads(judge({ changes: [down(89_000, kcm), down(361_000, mcm)] }))['last scale-down']).toBe(29_000);
  });

  it('counts the threshold as crossed when the fraction is just reached', () => {
    const plan = planOf();
    const half = { ...plan, settings: { ...plan.settings, nodeLeaseFailureFraction: 0.5, allSilentAfterMs: 0 } };
    expect(spreads(judge({}, half))['threshold crossed']).toBe(24_000);
  });

  it('uses the lower of the two middle values as the median', () => {
    const both = [...struck, { ...struck[0]!, shoot: 's2' }];
    const result = judge({ struck: both, changes: [down(88_500, kcm), down(89_500, kcm, 's2')] });
    expect(result.margin).toEqual({ leastMs: 500, medianMs: 500 });
    expect(result.timeline.find(({ what }) => what === 'first scale-down')?.spread).toEqual({
      firstMs: 28_500,
      medianMs: 28_500,
      lastMs: 29_500,
    });
  });

  it.each<readonly [string, Partial<RehearsalRecord>, object]>([
    [
      'scaling before the outage',
      { changes: [down(30_000, mcm), up(40_000, mcm)] },
      { needless: 1, isProtected: false },
    ],
    ['scaling in a healthy shoot', { changes: [down(88_000, kcm, 's2')] }, { needless: 1, isProtected: false }],
    [
      'scaling where too few nodes are cut off',
      { struck: [{ ...struck[0]!, renewals: [50_000, 54_000] }], changes: [down(88_000, kcm)] },
      { needless: 1, threatened: 0 },
    ],
    [
      'resources that stay down',
      { changes: [down(88_500, mcm), down(89_000, kcm), up(365_000, kcm)] },
      { unrestored: 1 },
    ],
    [
      'nodes lost in a threatened shoot',
      { impacts: new Map([['s1', { nodesTurnedUnknown: 3, machinesReplaced: 1 }]]) },
      { notSaved: 3, isProtected: false, heldShoots: 0, with: { nodesLost: 3, machinesReplaced: 1 } },
    ],
    [
      'nodes lost in another one',
      { impacts: new Map([['s2', { nodesTurnedUnknown: 3, machinesReplaced: 0 }]]) },
      { notSaved: 0, isProtected: true, with: { nodesLost: 3, machinesReplaced: 0 } },
    ],
  ])('counts %s', (_, record, expected) => {
    expect(judge(record)).toMatchObject(expected);
  });

  it('does not count a scale-up before the end of the outage as a restoration', () => {
    const changes = [down(88_000, kcm), up(200_000, kcm), down(201_000, kcm), up(370_000, kcm)];
    expect(spreads(judge({ changes }))['kube-controller-manager restored']).toBe(310_000);
  });

  it('counts any scale-down as needless if the API servers are down', () => {
    const none = [{ shoot: 's1', renewals: [], nodes: 4 }];
    const result = judge({ struck: none, changes: [down(88_000, kcm)] }, planOf('api-server'));
    expect(result).toMatchObject({ threatened: 0, needless: 1, isProtected: false });
    expect(result.warnings).toEqual([]);
  });

  it('sorts requests by name', () => {
    const seed = new Map([
      ['patch b', 2],
      ['list a', 1],
    ]);
    expect(Object.keys(judge({ requests: { seed, shoots: new Map() } }).requests.seed)).toEqual(['list a', 'patch b']);
  });
});
