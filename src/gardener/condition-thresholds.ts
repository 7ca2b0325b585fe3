import { type ConditionBase, type ConditionStatus, type UpdatedCondition, updateCondition } from './condition.ts';
import type { LastOperation } from './shoot-status.ts';

/** Reason and message of a failed check. */
export interface ConditionFailure {
  readonly reason: string;
  readonly message: string;
  readonly codes?: readonly string[];
}

export interface FailureContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a failure is Progressing, in milliseconds by condition type; 0 is a threshold, too. For shoots (extensions: healthcheck/aggregate.ts). */
  readonly thresholds: ReadonlyMap<string, number>;
  readonly lastOperation?: LastOperation | undefined;
}

/** True if `time` is at most `thresholdMs` ago. False if it is empty or unreadable. */
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
 * Returns the condition of a failed check: False, or Progressing within the threshold of its type. Like gardener's FailedCondition
 * (`pkg/api/core/v1beta1/helper/condition.go`).
 */
export const failedCondition = (
  base: ConditionBase,
  failure: ConditionFailure,
  context: FailureContext,
): UpdatedCondition =>
  updateCondition(base, { ...failure, status: failedStatus(base, failure.reason, context) }, context.now);
