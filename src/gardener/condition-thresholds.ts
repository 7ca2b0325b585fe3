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
  /** How long a failure is called Progressing, in milliseconds by type, for conditions of shoots (those of extensions: healthcheck/aggregate.ts). 0 counts as configured. */
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
