import type { RehearsalPlan } from './plan.ts';
import { playRehearsal } from './play.ts';
import { type Rehearsal, judgeRehearsal } from './result.ts';

/** Progress of a rehearsal. */
export interface RehearsalProgress {
  readonly isProtected: boolean;
  /** Elapsed virtual time. */
  readonly playedMs: number;
}

/** Plays a plan without the watchdog and with it, in virtual time. The same plan gives the same result. */
export const rehearse = async (
  plan: RehearsalPlan,
  onProgress?: (progress: RehearsalProgress) => void,
): Promise<Rehearsal> => {
  const play = (isProtected: boolean) =>
    playRehearsal(plan, { isProtected, onProgress: (playedMs) => onProgress?.({ isProtected, playedMs }) });
  const without = await play(false);
  return judgeRehearsal(plan, { without, with: await play(true) });
};
