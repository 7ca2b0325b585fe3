import type { LeaseCounts, Verdict } from '../judge/verdict.ts';
import type { Scaling } from '../plan/scaling.ts';
import type { ProtectionState } from './schema.ts';

interface StateInput {
  /** The latest verdict. */
  readonly verdict?: Verdict | undefined;
  /** Counts of the latest run, if it had any. */
  readonly counts?: LeaseCounts | undefined;
  readonly scaling?: Pick<Scaling, 'direction'> | undefined;
  readonly isAnyHeld: boolean;
  readonly isPaused: boolean;
  readonly isFlapping: boolean;
  /** True if nothing is written, so that nothing is ever held. */
  readonly isDryRun: boolean;
}

/** Derives the state from held resources first, then from the operator's pause, then from the verdict. */
export const protectionState = (input: StateInput): ProtectionState => {
  const { isAnyHeld, isPaused } = input;
  if (isAnyHeld) return stateOfHeld(input);
  return isPaused ? 'paused' : stateByVerdict(input);
};

const stateOfHeld = ({ verdict, scaling }: StateInput): ProtectionState => {
  if (scaling !== undefined && scaling.direction !== 'down') return 'restoring';
  if (verdict?.kind === 'landing') return 'landing';
  return verdict?.kind === 'healthy' ? 'restoring' : 'protected';
};

const stateByVerdict = ({ verdict, counts, isFlapping, isDryRun }: StateInput): ProtectionState => {
  switch (verdict?.kind) {
    case undefined:
      return 'unknown';
    case 'failed':
      return 'unreachable';
    // The scale-down has not been carried out yet, or could not be.
    case 'unhealthy':
      return isDryRun ? 'protected' : 'confirming';
    case 'confirming':
      return 'confirming';
    case 'landing':
      return 'landing';
    // A single node, or the external probe, keeps expired leases from leading to a verdict.
    case 'skipped':
      return (counts?.expired ?? 0) > 0 ? 'confirming' : 'healthy';
    case 'healthy':
      return isFlapping ? 'flapping' : 'healthy';
  }
};
