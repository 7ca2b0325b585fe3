import { planRehearsal, type RehearsalPlan, type RehearsalRequest } from './plan.ts';
import { playRehearsal } from './play.ts';
import { judgeRehearsal, type Rehearsal } from './result.ts';

export type { FaultName } from './faults.ts';
export { planRehearsal, type RehearsalPlan, type RehearsalRequest };
export type { Rehearsal };
export { tellRehearsal } from './text.ts';

/** Plays a plan without the watchdog and with it, in virtual time. The same plan gives the same result. */
export const rehearse = async (plan: RehearsalPlan): Promise<Rehearsal> => {
  const without = await playRehearsal(plan, false);
  return judgeRehearsal(plan, { without, with: await playRehearsal(plan, true) });
};
