import { errorText } from '../kubernetes/api/errors.ts';
import type { Condition, ConditionChange } from '../gardener/condition.ts';
import type { CheckOutcome } from './check.ts';
import { describeOutcomes, plural } from './details.ts';

/** Input of `aggregateOutcomes` besides the outcomes. */
export interface AggregateContext {
  /** The stored condition, if there is one. */
  readonly old: Condition | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Change of every condition while the shoot is hibernated, when no checks run. */
export const hibernatedChange: ConditionChange = {
  status: 'True',
  reason: 'HealthCheckSuccessful',
  message: 'Shoot is hibernated',
};

/** Returns the change of every condition if no check can be carried out. */
export const uncheckedChange = (error: unknown): ConditionChange => ({
  status: 'Unknown',
  reason: 'ConditionCheckError',
  message: `unable to execute any health check: ${errorText(error)}`,
});

const codesOf = (outcomes: readonly CheckOutcome[]): readonly string[] => {
  // A check written in JavaScript may return codes with a success.
  const codes = outcomes.flatMap((outcome) =>
    outcome.status !== 'True' && 'codes' in outcome ? (outcome.codes ?? []) : [],
  );
  return [...new Set(codes)].sort();
};

const smallestThreshold = (outcomes: readonly CheckOutcome[]): number | undefined => {
  const thresholds = outcomes.flatMap((outcome) =>
    outcome.status === 'Progressing' && outcome.progressingThresholdMs !== undefined
      ? [outcome.progressingThresholdMs]
      : [],
  );
  return thresholds.length === 0 ? undefined : Math.min(...thresholds);
};

/**
 * True if a condition of an extension may be Progressing (of a shoot: gardener/condition-thresholds.ts). A False condition may not: after a standstill, it must
 * not look as if it had just started to progress.
 */
const mayProgress = (outcomes: readonly CheckOutcome[], { old, now }: AggregateContext): boolean => {
  const threshold = smallestThreshold(outcomes);
  if (threshold === undefined || old?.status === 'False') return false;
  if (old === undefined || old.status === 'True') return true;
  return now - Date.parse(old.lastTransitionTime) <= threshold;
};

/**
 * Computes the change of one condition from the outcomes of all checks of its type. Like gardener's `extensions/pkg/controller/healthcheck/reconciler.go`, but
 * the codes are sorted and without duplicates, so that they do not differ from run to run.
 */
export const aggregateOutcomes = (outcomes: readonly CheckOutcome[], context: AggregateContext): ConditionChange => {
  const count = (status: CheckOutcome['status']): number => outcomes.filter((one) => one.status === status).length;
  const details = describeOutcomes(outcomes);
  const failed = count('Failed');
  if (failed > 0) {
    const message = `failed to execute ${failed} health ${plural(failed)}: ${details}`;
    return { status: 'Unknown', reason: 'ConditionCheckError', message };
  }
  const codes = codesOf(outcomes);
  if (count('False') > 0) return { status: 'False', reason: 'HealthCheckUnsuccessful', message: details, codes };
  if (count('Progressing') > 0) {
    return mayProgress(outcomes, context)
      ? { status: 'Progressing', reason: 'HealthCheckProgressing', message: details, codes }
      : { status: 'False', reason: 'HealthCheckUnsuccessful', message: details, codes };
  }
  return { status: 'True', reason: 'HealthCheckSuccessful', message: 'All health checks successful' };
};
