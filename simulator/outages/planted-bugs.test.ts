import { afterEach, describe, expect, it, vi } from 'vitest';
import { generatePlan } from './generate.ts';
import type { Plan } from './plan.ts';
import { runPlan } from './run.ts';
import type { Bug } from './testing/bug.ts';
import { bugs, plant } from './testing/planted-bugs.ts';

type Original = () => Promise<Record<string, unknown>>;

/** For vi.mock, whose factories run before this file does. */
const bugged = vi.hoisted(() => (...functions: readonly string[]) => async (original: Original) => {
  const { withBugs } = await import('./testing/planted-bugs.ts');
  return functions.reduce(withBugs, await original());
});

vi.mock('../../src/prober/probe.ts', bugged('probe'));
vi.mock('../../src/prober/plan/create-flow.ts', bugged('createFlow'));
vi.mock('../../src/prober/plan/flow.ts', bugged('advanceFlow'));
vi.mock('../../src/prober/plan/patch-plan.ts', bugged('planPatch'));
vi.mock('../../src/prober/act.ts', bugged('act'));
vi.mock('../../src/prober/judge/external-probe-rules.ts', bugged('veto', 'judgeSilence'));
vi.mock('../../src/prober/judge/external-probe-majority.ts', bugged('createExternalProbeRegistry'));
vi.mock('../../src/prober/judge/external-probe-history.ts', bugged('enterAttempt'));
vi.mock('../../src/weeder/judge/decide.ts', bugged('weeder/decide'));
vi.mock('../../src/weeder/judge/weedings.ts', bugged('advanceService'));
vi.mock('../../src/weeder/judge/watch-plan.ts', bugged('planScopes'));
vi.mock('../../src/weeder/pod-watches.ts', bugged('createPodWatches'));
vi.mock('../../src/kubernetes/api/pod.ts', bugged('deletePod'));
vi.mock('../../src/kubernetes/leaderelection/election-state.ts', bugged('electionState', 'leadsUntil'));
vi.mock('../../src/kubernetes/client/fence-writes.ts', bugged('fenceWrites'));

const mostPlans = 400;

const isProbers = ({ component }: Plan): boolean => component === 'prober';

/** Number of the first plan that breaks one of the invariants. */
const hunt = async ({ breaks, among = isProbers }: Bug): Promise<number | undefined> => {
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

describe('the checker bites when', () => {
  it.each(bugs)('$name', { timeout: 300_000 }, async (bug) => {
    plant(bug.name);
    expect(await hunt(bug)).toBeDefined();
  });
});
