import {
  type Condition,
  type ConditionBase,
  type ConditionStatus,
  type UpdatedCondition,
  updateCondition,
} from './condition.ts';
import type { LastOperation, ShootProgress } from './shoot-status.ts';

/** Reason and message of a failed check. */
export interface ConditionFailure {
  readonly reason: string;
  readonly message: string;
  readonly codes?: readonly string[];
}

export interface FailureContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** By condition type, in milliseconds: how long a failure is called Progressing. 0 counts as configured. */
  readonly thresholds: ReadonlyMap<string, number>;
  readonly lastOperation?: LastOperation | undefined;
}

/** False if `time` is missing or no time. */
const isWithin = (thresholdMs: number, time: string, now: number): boolean => now - Date.parse(time) <= thresholdMs;

const progressingIf = (isTolerated: boolean): ConditionStatus => (isTolerated ? 'Progressing' : 'False');

const failedStatus = (
  { type, old }: ConditionBase,
  reason: string,
  { now, thresholds, lastOperation }: FailureContext,
): ConditionStatus => {
  const threshold = thresholds.get(type);
  if (threshold === undefined || old === undefined) return 'False';
  const recentlySucceeded =
    lastOperation?.state === 'Succeeded' && isWithin(threshold, lastOperation.lastUpdateTime, now);
  switch (old.status) {
    case 'True':
      return 'Progressing';
    case 'Progressing':
      return progressingIf(recentlySucceeded || isWithin(threshold, old.lastTransitionTime, now));
    case 'False':
      return progressingIf(recentlySucceeded || reason !== old.reason);
    default:
      return 'False';
  }
};

/**
 * The condition of a failed check: False, or Progressing within the threshold of its type. As gardener's FailedCondition
 * (`pkg/api/core/v1beta1/helper/condition.go`).
 */
export const failedCondition = (
  base: ConditionBase,
  failure: ConditionFailure,
  context: FailureContext,
): UpdatedCondition =>
  updateCondition(base, { ...failure, status: failedStatus(base, failure.reason, context) }, context.now);

/** True if the Shoot is in a state in which failures are to be expected. */
const expectsFailures = ({ lastOperation, hasLastErrors }: ShootProgress): boolean => {
  if (lastOperation === undefined) return true;
  const { type, state } = lastOperation;
  if ((type === 'Create' || type === 'Delete') && state !== 'Succeeded') return true;
  return state === 'Processing' && !hasLastErrors;
};

/**
 * Turns False into Progressing while the Shoot is created, deleted or processed; Unknown stays. `base` is what the condition was made from: the
 * times follow from the stored status, so that they move once and not with every check. As gardener's PardonConditions
 * (`pkg/gardenlet/controller/shoot/care`).
 */
export const tolerateExpectedFailure = (
  { condition, changed }: UpdatedCondition,
  base: ConditionBase,
  { now, ...progress }: ShootProgress & { readonly now: number },
): UpdatedCondition => {
  if (condition.status !== 'False' || !expectsFailures(progress)) return { condition, changed };
  return updateCondition(base, { ...textOf(condition), status: 'Progressing' }, now);
};

const textOf = ({ reason, message, codes = [] }: Condition): Required<ConditionFailure> => ({ reason, message, codes });
