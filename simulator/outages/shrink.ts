import type { Plan } from './plan.ts';
import type { Run } from './run.ts';

/** Returns slightly simpler plans, the greatest simplification first: fewer faults, shoots and replicas, shorter faults. */
const simplerPlans = (plan: Plan): readonly Plan[] => {
  const { faults, shoots } = plan;
  const half = Math.ceil(faults.length / 2);
  const fewer = [
    ...(half > 1 ? [faults.slice(0, half), faults.slice(half)] : []),
    ...faults.map((_, index) => faults.toSpliced(index, 1)),
  ];
  const shorter = faults.flatMap((planned, index) =>
    planned.forMs > 2_000 ? [faults.with(index, { ...planned, forMs: Math.ceil(planned.forMs / 2_000) * 1_000 })] : [],
  );
  return [
    ...fewer.map((left) => ({ ...plan, faults: left })),
    ...(shoots.length < 2 ? [] : shoots.map((_, index) => ({ ...plan, shoots: shoots.toSpliced(index, 1) }))),
    ...(plan.replicas > 1 ? [{ ...plan, replicas: 1 }] : []),
    ...(plan.elected && plan.replicas === 1 ? [{ ...plan, elected: false }] : []),
    ...(plan.latencyMs > 0 ? [{ ...plan, latencyMs: 0 }] : []),
    ...shorter.map((left) => ({ ...plan, faults: left })),
  ];
};

export interface ShrinkOptions {
  readonly run: (plan: Plan) => Promise<Run>;
  /** Maximum number of runs. */
  readonly mostRuns: number;
}

/** Searches for the simplest plan that still violates the same invariant. The search is greedy and deterministic. */
export const shrink = async (failed: Run, { run, mostRuns }: ShrinkOptions): Promise<Run> => {
  let best = failed;
  let runs = 0;
  const findSimpler = async (): Promise<Run | undefined> => {
    for (const plan of simplerPlans(best.plan)) {
      if (runs >= mostRuns) return undefined;
      runs += 1;
      const tried = await run(plan);
      if (tried.violation?.invariant === failed.violation?.invariant) return tried;
    }
    return undefined;
  };
  for (let simpler = await findSimpler(); simpler !== undefined; simpler = await findSimpler()) best = simpler;
  return best;
};
