import { type ConditionBase, type ConditionStatus, type Condition, updateCondition } from './condition.ts';
import type { LastOperation, ShootProgress } from './shoot-status.ts';

/** Condition types of a Shoot that care owns, in the order in which they are written. Workerless shoots have no `EveryNodeReady`. */
export const shootConditionTypes = [
  'APIServerAvailable',
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
] as const;

export type ShootConditionType = (typeof shootConditionTypes)[number];

/** The only one of these types that gardener takes from no extension: the request to the API server alone decides it. */
export const ownConditionType = 'APIServerAvailable' satisfies ShootConditionType;

/** Result of a check of a Shoot. `Failed` becomes False or, within the threshold of its condition type, Progressing. */
export interface Finding {
  readonly status: ConditionStatus | 'Failed';
  readonly reason: string;
  readonly message: string;
  readonly codes?: readonly string[];
}

export interface FindingContext extends ShootProgress {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a failure of this type is Progressing, in milliseconds; 0 is a threshold, too. (For extensions: healthcheck/judge.ts.) */
  readonly thresholdMs?: number;
}

/** True if `time` is at most `thresholdMs` ago. False if it is empty or unreadable. */
const isWithin = (thresholdMs: number, time: string, now: number): boolean => now - Date.parse(time) <= thresholdMs;

const hasRecentlySucceeded = (operation: LastOperation | undefined, thresholdMs: number, now: number): boolean =>
  operation?.state === 'Succeeded' && isWithin(thresholdMs, operation.lastUpdateTime, now);

/** True if a failed check is tolerated. Like gardener's FailedCondition (`pkg/api/core/v1beta1/helper/condition.go`). */
const isTolerated = (
  old: Condition | undefined,
  reason: string,
  { now, thresholdMs, lastOperation }: FindingContext,
): boolean => {
  if (thresholdMs === undefined || old === undefined) return false;
  switch (old.status) {
    case 'True':
      return true;
    case 'Progressing':
      return (
        hasRecentlySucceeded(lastOperation, thresholdMs, now) || isWithin(thresholdMs, old.lastTransitionTime, now)
      );
    case 'False':
      return hasRecentlySucceeded(lastOperation, thresholdMs, now) || reason !== old.reason;
    default:
      return false;
  }
};

/**
 * True if failures are expected, because the Shoot is created, deleted or reconciled. Like gardener's PardonConditions (`pkg/gardenlet/controller/shoot/care`).
 */
const expectsFailures = ({ lastOperation, hasLastErrors }: ShootProgress): boolean => {
  if (lastOperation === undefined) return true;
  const { type, state } = lastOperation;
  if ((type === 'Create' || type === 'Delete') && state !== 'Succeeded') return true;
  return state === 'Processing' && !hasLastErrors;
};

const statusOf = (
  old: Condition | undefined,
  { status, reason }: Finding,
  context: FindingContext,
): ConditionStatus => {
  if (status !== 'Failed' && status !== 'False') return status;
  const isProgressing = expectsFailures(context) || (status === 'Failed' && isTolerated(old, reason, context));
  return isProgressing ? 'Progressing' : 'False';
};

/** Computes a condition of a Shoot from the finding of its checks. Unlike Gardener's, a pardoned condition keeps its time, because it was never False. */
export const shootCondition = (base: ConditionBase, finding: Finding, context: FindingContext): Condition =>
  updateCondition(base, { ...finding, status: statusOf(base.old, finding, context) }, context.now);
