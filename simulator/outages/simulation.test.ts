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
  ...['etcd', 'crash', 'no-slices', 'stray-pod'],
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

  it('have every kind of fault more than once, one and two watchdogs, elected and not, dry runs', () => {
    const all = Array.from({ length: plans }, (_, index) => generatePlan(index + 1));
    const plansOf = Object.groupBy(
      all.flatMap(({ faults }) => [...new Set(faults.map(({ fault }) => kindOf(fault)))]),
      (kind) => kind,
    );
    const frequent = Object.entries(plansOf).filter(([, found = []]) => found.length > 1);
    expect(frequent.map(([kind]) => kind).sort()).toEqual(kinds.sort());
    expect(new Set(all.map(({ component }) => component))).toEqual(new Set(['prober', 'weeder']));
    expect(new Set(all.map(({ outside }) => outside))).toEqual(new Set([undefined, 'observe', 'trigger']));
    expect(new Set(all.map(({ source }) => source))).toEqual(new Set([undefined, 'secret']));
    expect(new Set(all.map(({ replicas }) => replicas))).toEqual(new Set([1, 2]));
    expect(new Set(all.map(({ elected }) => elected))).toEqual(new Set([true, false]));
    expect(new Set(all.map(({ dryRun }) => dryRun))).toEqual(new Set([true, false]));
  });

  it('are printed in lines', async () => {
    const plan = generatePlan(3);
    const run = await runPlan(plan);
    expect(formatPlan(plan)).toHaveLength(1 + plan.shoots.length + plan.faults.length);
    expect(formatTrace(run.events).length).toBeGreaterThan(10);
  });
});
