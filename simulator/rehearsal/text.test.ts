import { describe, expect, it } from 'vitest';
import type { Rehearsal } from './result.ts';
import { formatRehearsal } from './text.ts';

const protectedRun: Rehearsal = {
  fault: 'lb',
  title: 'the load balancer of all shoots fails',
  source: 'gardener',
  shoots: 250,
  nodes: 50,
  seed: 7,
  limits: { qps: 5, burst: 10 },
  outage: { beginsMs: 60_000, endsMs: 360_000 },
  endedMs: 555_000,
  durationMs: 900_000,
  margin: { leastMs: 2_149, medianMs: 3_851 },
  threatened: 250,
  heldShoots: 250,
  needless: 0,
  unrestored: 0,
  with: { nodesLost: 0, machinesReplaced: 0 },
  without: { nodesLost: 12_500, machinesReplaced: 3 },
  takenForGranted: [],
  isProtected: true,
};

const format = (changed: Partial<Rehearsal> = {}): string => formatRehearsal({ ...protectedRun, ...changed });

describe('the text of a rehearsal', () => {
  it('shows the plan and the losses', () => {
    expect(format()).toBe(`\
Rehearsed: 250 shoots of 50 nodes; the load balancer of all shoots fails, from
1m0s to 6m0s; the rehearsal ended after 9m15s (seed 7, 5 requests/s, burst 10)

KCM held in 250 of 250 threatened shoots; time left until it would give up a
node: least 2.1s, median 3.9s

                                                   nodes  machines
                                                    lost  replaced
  without protection                               12500         3
  with protection                                      0         0

PROTECTED: no node was lost
`);
  });

  it.each<readonly [Partial<Rehearsal>, string]>([
    [
      { with: { nodesLost: 12, machinesReplaced: 0 }, isProtected: false },
      'FAILED: 12 nodes lost in spite of protection\n',
    ],
    [{ needless: 1, isProtected: false }, 'FAILED: 1 shoot scaled down without need\n'],
    [{ unrestored: 2 }, 'not restored within 15m0s: 2 shoots; try a longer --duration\nPROTECTED'],
    [{ threatened: 0 }, 'OK: nothing was scaled down, as expected\n'],
  ])('concludes from %j', (changed, expected) => {
    expect(format(changed)).toContain(`\n${expected}`);
  });

  it('fits into 80 columns', () => {
    const lines = format({ takenForGranted: ['word '.repeat(80)], title: 'a '.repeat(90) }).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
