import type { Plan, PlannedFault, PlannedShoot } from './plan.ts';
import type { Run } from './run.ts';

/** Returns slightly simpler plans, the greatest simplification first. */
const simplerPlans = (plan: Plan): readonly Plan[] => {
  const withFaults = (faults: readonly PlannedFault[]): Plan => ({ ...plan, faults });
  const half = Math.ceil(plan.faults.length / 2);
  const halves = half > 1 ? [withFaults(plan.faults.slice(0, half)), withFaults(plan.faults.slice(half))] : [];
  const withoutOne = plan.faults.map((_, index) => withFaults(plan.faults.toSpliced(index, 1)));
  const fewerShoots =
    plan.shoots.length < 2 ? [] : plan.shoots.map((_, index) => ({ ...plan, shoots: plan.shoots.toSpliced(index, 1) }));
  const oneReplica = plan.replicas > 1 ? [{ ...plan, replicas: 1 }] : [];
  const unelected = plan.elected && plan.replicas === 1 ? [{ ...plan, elected: false }] : [];
  return [
    ...halves,
    ...withoutOne,
    ...fewerShoots,
    ...oneReplica,
    ...unelected,
    ...(plan.latencyMs > 0 ? [{ ...plan, latencyMs: 0 }] : []),
    ...plan.shoots.flatMap((shoot, index) => simplerShoots(shoot).map((simple) => withShoot(plan, index, simple))),
    ...plan.faults.flatMap((fault, index) =>
      simplerFaults(fault).map((simple) => withFaults(plan.faults.with(index, simple))),
    ),
  ];
};

const withShoot = (plan: Plan, index: number, shoot: PlannedShoot): Plan => ({
  ...plan,
  shoots: plan.shoots.with(index, shoot),
});

const simplerShoots = (shoot: PlannedShoot): readonly PlannedShoot[] => {
  const { graceMs, ...usual } = shoot;
  const ones = Object.fromEntries(Object.entries(shoot.replicas).map(([name, count]) => [name, Math.min(count, 1)]));
  const isOnes = Object.values(shoot.replicas).every((count) => count <= 1);
  return [
    ...(graceMs === undefined ? [] : [usual]),
    ...(shoot.nodes > 2 ? [{ ...shoot, nodes: 2 }] : []),
    ...(isOnes ? [] : [{ ...shoot, replicas: ones }]),
  ];
};

/** Returns the fault with half of its duration, and with its start rounded to seconds. */
const simplerFaults = (planned: PlannedFault): readonly PlannedFault[] => {
  const { at, forMs } = planned;
  const shorter = forMs > 2_000 ? [{ ...planned, forMs: Math.ceil(forMs / 2_000) * 1_000 }] : [];
  const round = Math.round(at / 1_000) * 1_000;
  return [...shorter, ...(round === at ? [] : [{ ...planned, at: round }])];
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
