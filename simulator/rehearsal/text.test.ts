import { describe, expect, it } from 'vitest';
import type { Rehearsal } from './result.ts';
import { formatRehearsal } from './text.ts';

const spread = (firstMs: number, medianMs: number, lastMs: number) => ({ firstMs, medianMs, lastMs });

const protectedRun: Rehearsal = {
  fault: 'lb',
  title: 'the load balancer of all shoots fails',
  source: 'gardener',
  shoots: 250,
  nodes: 50,
  seed: 7,
  limits: { qps: 5, burst: 10 },
  graceMs: 40_000,
  outage: { beginsMs: 60_000, endsMs: 360_000 },
  endedMs: 555_000,
  durationMs: 900_000,
  timeline: [
    { what: 'threshold crossed', shoots: 250, spread: spread(24_449, 26_051, 27_949) },
    {
      what: 'a-resource-with-a-rather-long-name restored',
      shoots: 249,
      spread: spread(302_000, 1_380_000, 12_444_000),
    },
  ],
  margin: { leastMs: 2_149, medianMs: 3_851 },
  threatened: 250,
  heldShoots: 250,
  needless: 0,
  unrestored: 0,
  with: { nodesLost: 0, machinesReplaced: 0 },
  without: { nodesLost: 12_500, machinesReplaced: 3 },
  notSaved: 0,
  takenForGranted: [],
  warnings: [],
  requests: { seed: { 'patch deployments': 1_500, 'list machines': 12_343 }, shoots: {} },
  isProtected: true,
};

const format = (changed: Partial<Rehearsal> = {}): string => formatRehearsal({ ...protectedRun, ...changed });

describe('the text of a rehearsal', () => {
  it('shows the plan, the timeline and the losses', () => {
    expect(format()).toBe(`\
Rehearsed: 250 shoots of 50 nodes; the load balancer of all shoots fails, from
1m0s to 6m0s; the rehearsal ended after 9m15s (seed 7, 5 requests/s, burst 10)

  after the outage began, over all shoots          first    median      last
  threshold crossed                                24.4s     26.1s     27.9s
  a-resource-with-a-rather-long-name restored (249 shoots)
                                                  302.0s   1380.0s  12444.0s

KCM held in 250 of 250 threatened shoots; margin to KCM's grace of 40.0s: least
2.1s, median 3.9s

                                                   nodes  machines
                                                    lost  replaced
  without protection                               12500         3
  with protection                                      0         0

  requests to the seed: 13843 (list machines 12343, patch deployments 1500)
  requests to all shoots: 0

PROTECTED: no threatened node was lost
`);
  });

  it.each<readonly [Partial<Rehearsal>, string]>([
    [
      { notSaved: 12, with: { nodesLost: 12, machinesReplaced: 0 }, isProtected: false },
      'FAILED: 12 nodes of threatened shoots lost in spite of protection\n',
    ],
    [{ needless: 1, isProtected: false }, 'FAILED: 1 shoot scaled down without need\n'],
    [{ unrestored: 2 }, 'not restored within 15m0s: 2 shoots; try a longer --duration\nPROTECTED'],
    [
      { with: { nodesLost: 1, machinesReplaced: 0 } },
      '1 node lost where this configuration does not protect\nPROTECTED',
    ],
    [{ margin: { leastMs: -1, medianMs: 0 } }, 'NARROW: the grace period of a node was over before KCM was down;'],
    [{ threatened: 0, timeline: [] }, 'OK: nothing was scaled down, as expected\n'],
  ])('concludes from %j', (changed, expected) => {
    expect(format(changed)).toContain(`\n${expected}`);
  });

  it('wraps each warning separately', () => {
    const long =
      'threshold at 30.0s, observation within 1.0s, level 0: 20.0s initialDelay + up to 3.0s, level 1 at 54.0s';
    expect(format({ warnings: [long, 'short'] })).toContain(`
WARNING: threshold at 30.0s, observation within 1.0s, level 0: 20.0s
         initialDelay + up to 3.0s, level 1 at 54.0s
WARNING: short

PROTECTED`);
  });

  it('fits into 80 columns', () => {
    const lines = format({ warnings: ['word '.repeat(80)], title: 'a '.repeat(90) }).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
