import { describe, expect, it } from 'vitest';
import { generatePlan } from './generate.ts';
import type { Fault, Plan } from './plan.ts';
import { type Run, runPlan } from './run.ts';
import { shrink } from './shrink.ts';

const runOf = (plan: Plan, invariant: string | undefined): Run => ({
  plan,
  violation: invariant === undefined ? undefined : { invariant, problem: 'broken', at: 1 },
  events: [],
  lengthMs: 1,
  impact: { nodesTurnedUnknown: 0, machinesReplaced: 0 },
});

const kinds = ({ faults }: Plan): readonly Fault['kind'][] => faults.map(({ fault }) => fault.kind);

/** A plan with several faults, and two kinds that occur in it. */
const rich = (): { readonly plan: Plan; readonly pair: readonly [Fault['kind'], Fault['kind']] } => {
  for (let seed = 0; ; seed += 1) {
    const plan = generatePlan(seed);
    const [first, ...others] = new Set(kinds(plan));
    const last = others.at(-1);
    if (others.length >= 3 && first !== undefined && last !== undefined) return { plan, pair: [first, last] };
  }
};

describe('shrinking', () => {
  it('keeps the faults that the violation requires, and removes the rest', async () => {
    const { plan, pair } = rich();
    const run = async (tried: Plan): Promise<Run> =>
      runOf(tried, pair.every((kind) => kinds(tried).includes(kind)) ? 'x' : undefined);
    const { plan: simplest } = await shrink(await run(plan), { run, mostRuns: 1_000 });
    expect(kinds(simplest)).toEqual(expect.arrayContaining([...pair]));
    expect(simplest.faults).toHaveLength(2);
    expect(simplest.faults.every(({ forMs }) => forMs <= 2_000)).toBe(true);
    expect(simplest).toMatchObject({ seed: plan.seed, replicas: 1, elected: false, latencyMs: 0 });
    expect(simplest.shoots).toHaveLength(1);
  });

  it('plays a pause of a shoot that was removed', async () => {
    const { plan } = rich();
    const fault = { kind: 'protection-pause', shoot: 'left-out', ms: 1_000, expires: false } as const;
    const short = { ...plan, component: 'prober', faultsMs: 3_000, quietMs: 0 } as const;
    await expect(runPlan({ ...short, faults: [{ at: 1_000, forMs: 1_000, fault }] })).resolves.toBeDefined();
  });

  it('does not switch to another violation', async () => {
    const { plan } = rich();
    const run = async (tried: Plan): Promise<Run> =>
      runOf(tried, tried.faults.length === plan.faults.length ? 'x' : 'y');
    const { plan: simplest, violation } = await shrink(await run(plan), { run, mostRuns: 1_000 });
    expect([simplest.faults.length, violation?.invariant]).toEqual([plan.faults.length, 'x']);
  });

  it('ends after the maximum number of runs', async () => {
    const { plan } = rich();
    let runs = 0;
    const run = async (tried: Plan): Promise<Run> => {
      runs += 1;
      return runOf(tried, 'x');
    };
    await shrink(runOf(plan, 'x'), { run, mostRuns: 7 });
    expect(runs).toBe(7);
  });
});
