import { afterEach, describe, expect, it, vi } from 'vitest';
import { generatePlan } from './generate.ts';
import { runPlan } from './run.ts';
import { bugs, plant } from './testing/planted-bugs.ts';

type Original = () => Promise<Record<string, unknown>>;

/** For vi.mock, whose factories run before this file does. */
const bugged = vi.hoisted(() => (of: string) => async (original: Original) => {
  const { withBugs } = await import('./testing/planted-bugs.ts');
  return withBugs(await original(), of);
});

vi.mock('../../controllers/prober/decide.ts', bugged('decide'));
vi.mock('../../controllers/prober/flow-plan.ts', bugged('createFlow'));
vi.mock('../../controllers/prober/flow.ts', bugged('advanceFlow'));
vi.mock('../../controllers/prober/moves.ts', bugged('nextMove'));
vi.mock('../../controllers/prober/act.ts', bugged('act'));
vi.mock('../../kube/fence-writes.ts', bugged('fenceWrites'));

const mostPlans = 400;

/** Number of the first plan that breaks one of the invariants. */
const hunt = async (invariants: readonly string[]): Promise<number | undefined> => {
  for (let seed = 1; seed <= mostPlans; seed += 1) {
    const { violation } = await runPlan(generatePlan(seed));
    if (violation !== undefined && invariants.includes(violation.invariant)) return seed;
  }
  return undefined;
};

afterEach(() => plant(undefined));

describe('the checker bites when', () => {
  it.each(bugs)('$name', { timeout: 300_000 }, async ({ name, breaks }) => {
    plant(name);
    expect(await hunt(breaks)).toBeDefined();
  });
});
