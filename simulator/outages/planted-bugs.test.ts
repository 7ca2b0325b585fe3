import { afterEach, describe, expect, it, vi } from 'vitest';
import { generatePlan } from './generate.ts';
import { invariants } from './invariants/index.ts';
import { runPlan } from './run.ts';
import { type Bug, bugs, plant } from './testing/planted-bugs.ts';

type Original = () => Promise<Record<string, unknown>>;

/** Creates factories for vi.mock, which run before this file. */
const bugged = vi.hoisted(() => (...functions: readonly string[]) => async (original: Original) => {
  const { withBugs } = await import('./testing/planted-bugs.ts');
  return functions.reduce(withBugs, await original());
});

vi.mock('../../src/prober/observe/probe.ts', bugged('probe'));
vi.mock('../../src/prober/configured-prober.ts', bugged('createConfiguredProber'));
vi.mock('../../src/prober/scale/desired.ts', bugged('permission'));
vi.mock('../../src/prober/scale/act.ts', bugged('act'));
vi.mock('../../src/prober/scale/patch-plan.ts', bugged('planPatch'));
vi.mock('../../src/kubernetes/leaderelection/election-state.ts', bugged('electionState', 'leadsUntil'));
vi.mock('../../src/kubernetes/client/fence-writes.ts', bugged('fenceWrites'));

/** Bounds a hunt. It is a number of plans, not a time, so that a slow machine finds what a fast one finds. */
const mostPlans = 400;
/** A time limit in milliseconds that only a hang exceeds. */
const timeout = 3_600_000;

/** Returns the number of the first plan that violates one of the bug's invariants. */
const hunt = async ({ breaks, among }: Bug): Promise<number | undefined> => {
  let plans = 0;
  for (let seed = 1; plans < mostPlans; seed += 1) {
    const plan = generatePlan(seed);
    if (!among(plan)) continue;
    plans += 1;
    const { violation } = await runPlan(plan);
    if (violation !== undefined && breaks.includes(violation.invariant)) return seed;
  }
  return undefined;
};

afterEach(() => plant(undefined));

describe('the checker finds a violation if', () => {
  it.each(bugs)('$name', { timeout }, async (bug) => {
    plant(bug.name);
    expect(await hunt(bug)).toBeDefined();
  });

  it('any invariant is broken', () => {
    expect(new Set(bugs.flatMap(({ breaks }) => breaks))).toEqual(new Set(invariants.map(({ name }) => name)));
  });
});
