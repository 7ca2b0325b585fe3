import { describe, expect, it } from 'vitest';
import { generatePlan } from './generate.ts';
import type { Fault } from './plan.ts';
import { runPlan } from './run.ts';
import { shrink } from './shrink.ts';
import { formatFailure, formatPlan, formatTrace } from './format.ts';

/** Number of plans: enough for every kind of story and fault. `make simulate` plays more. */
const plans = 250;
/** The kinds of faults in random plans. `make worth` has more. */
const kinds = [
  ...['load-balancer', 'nat-gateway', 'public-way', 'api-server', 'partition', 'dns', 'lost-answers', 'compaction'],
  ...['kill', 'stop', 'pause', 'reload', 'autoscaler', 'ignore-scaling', 'protection-pause'],
  ...['node-clock', 'watchdog-clock', 'api-server-clock', 'credentials', 'not-candidates'],
  ...['hibernation', 'deletion', 'no-workers', 'no-workers for good', 'cluster-gone'],
  ...['namespace-deletion', 'credentials for good'],
  ...['etcd', 'crash'],
];
const kindOf = (fault: Fault): string => {
  const isForGood =
    fault.kind === 'no-workers' ? fault.isForGood : fault.kind === 'credentials' && fault.how === 'removed';
  return isForGood === true ? `${fault.kind} for good` : fault.kind;
};
/** A time limit in milliseconds that only a hang exceeds. */
const timeout = 3_600_000;

describe('the simulation', () => {
  it('finds no violated invariant', { timeout }, async () => {
    for (let seed = 1; seed <= plans; seed += 1) {
      const run = await runPlan(generatePlan(seed));
      if (run.violation === undefined) continue;
      const simplest = await shrink(run, { run: runPlan, mostRuns: 100 });
      expect.fail(formatFailure(run, simplest).join('\n'));
    }
  });

  it('plays the same plan the same way, and another one differently', { timeout }, async () => {
    const traceOf = async (seed: number): Promise<string> => JSON.stringify((await runPlan(generatePlan(seed))).events);
    for (const seed of [2, 7, 11]) {
      const trace = await traceOf(seed);
      expect(trace.length).toBeGreaterThan(10_000);
      expect(await traceOf(seed)).toBe(trace);
      expect(await traceOf(seed + 1)).not.toBe(trace);
    }
  });

  it('lets a scale-down go on after the outage if nobody could reach the seed, and so judge, since it began', async () => {
    const shoot = { name: 'a', nodes: 5, replicas: { 'kube-controller-manager': 1, 'machine-controller-manager': 1 } };
    const cut: Fault = { kind: 'load-balancer', shoot: 'a', how: 'refused' };
    const lost: Fault = { kind: 'api-server', server: 'seed', trouble: { how: 'status', status: 503 } };
    const run = await runPlan({
      ...{ seed: 1, component: 'prober', replicas: 1, elected: false, dryRun: false, latencyMs: 20 },
      ...{ shoots: [shoot], faultsMs: 200_000, quietMs: 60_000 },
      faults: [
        { at: 50_000, forMs: 45_000, fault: cut },
        { at: 72_500, forMs: 34_000, fault: lost },
      ],
    });
    const last = run.events.findLast((event) => event.kind === 'deployment' && event.after?.replicas === 0);
    expect(last).toMatchObject({ name: 'kube-controller-manager' });
    expect(last?.at).toBeGreaterThan(106_500);
    expect(run.violation).toBeUndefined();
  });
});

describe('plans', () => {
  it('depend on their number alone, and are plain JSON data', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const plan = generatePlan(seed);
      expect(generatePlan(seed)).toEqual(plan);
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
      expect(plan.faults.every(({ at, forMs }) => at >= 0 && forMs > 0 && at + forMs <= plan.faultsMs)).toBe(true);
    }
  });

  it('have every kind of fault, one and two watchdogs, elected and not, dry runs, more than once in so many on average', () => {
    // So many that no small change of the generator makes a kind too rare or too frequent by chance.
    const rounds = 20;
    const all = Array.from({ length: rounds * plans }, (_, index) => generatePlan(index + 1));
    const counts = new Map<string, number>();
    const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    for (const { faults, component, outside, source, replicas, elected, dryRun } of all) {
      for (const kind of new Set(faults.map(({ fault }) => kindOf(fault)))) count(kind);
      for (const property of Object.entries({ component, outside, source, replicas, elected, dryRun })) {
        count(property.join(' '));
      }
    }
    const frequent = [...counts].filter(([, number]) => number > rounds).map(([what]) => what);
    const others = [
      ...[
        'component prober',
        'component weeder',
        'outside ',
        'outside observe',
        'outside trigger',
        'source ',
        'source secret',
      ],
      ...['replicas 1', 'replicas 2', 'elected true', 'elected false', 'dryRun true', 'dryRun false'],
    ];
    expect(frequent.sort()).toEqual([...kinds, ...others].sort());
  });

  it('are printed in lines', async () => {
    const plan = generatePlan(3);
    const run = await runPlan(plan);
    expect(formatPlan(plan)).toHaveLength(1 + plan.shoots.length + plan.faults.length);
    expect(formatTrace(run.events).length).toBeGreaterThan(10);
  });
});
