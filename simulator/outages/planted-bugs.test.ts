import { afterEach, describe, expect, it, vi } from 'vitest';
import { generatePlan } from './generate.ts';
import { invariants } from './invariants/index.ts';
import type { Plan } from './plan.ts';
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
vi.mock('../../src/weeder/judge/watches.ts', bugged('planWatches'));
vi.mock('../../src/kubernetes/leaderelection/election-state.ts', bugged('electionState', 'leadsUntil'));
vi.mock('../../src/kubernetes/client/fence-writes.ts', bugged('fenceWrites'));

/** Bounds a hunt. It is a number of plans, not a time, so that a slow machine finds what a fast one finds. */
const mostPlans = 400;
/** A time limit in milliseconds that only a hang exceeds. */
const timeout = 3_600_000;

const isFound = async ({ breaks }: Bug, plan: Plan): Promise<boolean> => {
  const { violation } = await runPlan(plan);
  return violation !== undefined && breaks.includes(violation.invariant);
};

/** Returns the number of a plan that violates one of the bug's invariants: the known plan if it still does, else the first one found. */
const hunt = async (bug: Bug): Promise<number | undefined> => {
  const { name, knownPlan, among } = bug;
  if (knownPlan !== undefined && (await isFound(bug, generatePlan(knownPlan)))) return knownPlan;
  let plans = 0;
  for (let seed = 1; plans < mostPlans; seed += 1) {
    const plan = generatePlan(seed);
    if (!among(plan)) continue;
    plans += 1;
    if (!(await isFound(bug, plan))) continue;
    if (knownPlan !== undefined) {
      process.stderr.write(`${name}: plan ${String(seed)}, no longer ${String(knownPlan)}\n`);
    }
    return seed;
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
