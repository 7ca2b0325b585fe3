import type { LeaseCounts, Verdict } from '../judge/verdict.ts';
import type { Flow } from '../plan/flow.ts';
import type { ProtectionState } from './schema.ts';

interface StateInput {
  /** The latest one. */
  readonly verdict?: Verdict | undefined;
  /** Of the latest verdict that had some. */
  readonly counts?: LeaseCounts | undefined;
  readonly flow?: Pick<Flow, 'direction'> | undefined;
  readonly isAnyHeld: boolean;
  readonly isPaused: boolean;
  readonly isFlapping: boolean;
  /** Nothing is written, so nothing is ever held. */
  readonly isDryRun: boolean;
}

/** What is held speaks first, then the operator's pause, then the verdict. */
export const protectionState = (input: StateInput): ProtectionState => {
  const { isAnyHeld, isPaused } = input;
  if (isAnyHeld) return stateOfHeld(input);
  return isPaused ? 'paused' : stateByVerdict(input);
};

const stateOfHeld = ({ verdict, flow }: StateInput): ProtectionState => {
  if (flow !== undefined && flow.direction !== 'down') return 'restoring';
  if (verdict?.kind === 'landing') return 'landing';
  return verdict?.kind === 'healthy' ? 'restoring' : 'protected';
};

const stateByVerdict = ({ verdict, counts, isFlapping, isDryRun }: StateInput): ProtectionState => {
  switch (verdict?.kind) {
    case undefined:
      return 'unknown';
    case 'failed':
      return 'unreachable';
    // Not carried out yet, or it could not be.
    case 'unhealthy':
      return isDryRun ? 'protected' : 'confirming';
    case 'confirming':
      return 'confirming';
    case 'landing':
      return 'landing';
    // One node, or an external probe, keeps expired leases from being a verdict.
    case 'skipped':
      return (counts?.expired ?? 0) > 0 ? 'confirming' : 'healthy';
    case 'healthy':
      return isFlapping ? 'flapping' : 'healthy';
  }
};
