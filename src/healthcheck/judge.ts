import type { Condition, ConditionChange } from '../gardener/condition.ts';
import { errorText } from '../kubernetes/api/errors.ts';
import type { CheckOutcome } from './check.ts';

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

const plural = (count: number): string => (count === 1 ? 'check' : 'checks');

const sections = [
  { status: 'Failed', header: 'Unable to execute' },
  { status: 'False', header: 'Failed' },
  { status: 'Progressing', header: 'Progressing' },
] as const;

const sentence = (detail: string): string => (detail.endsWith('.') ? detail : `${detail}.`);

const entries = (details: readonly string[]): string =>
  details.length === 1
    ? details.map(sentence).join()
    : details.map((detail, index) => `${index + 1}) ${sentence(detail)}`).join(' ');

/**
 * Joins the details of one condition's checks: first of those that could not be carried out, then of the unsuccessful and the progressing ones, each in the
 * order of registration. Sections have headers only if there are several. Like gardener's `extensions/pkg/controller/healthcheck/message_util.go`.
 */
const describeOutcomes = (outcomes: readonly CheckOutcome[]): string => {
  const found = sections.flatMap(({ status, header }) => {
    const details = outcomes.flatMap((one) => ('detail' in one && one.status === status ? [one.detail] : []));
    return details.length === 0 ? [] : [{ header, details }];
  });
  return found
    .map(({ header, details }) =>
      found.length === 1 ? entries(details) : `${header} ${plural(details.length)}: ${entries(details)}`,
    )
    .join(' ');
};

/** Returns the sorted codes of all outcomes, each once. A check written in JavaScript may return codes with a success: they do not count. */
const codesOf = (outcomes: readonly CheckOutcome[]): readonly string[] => {
  const codes = outcomes.flatMap((one) => (one.status !== 'True' && 'codes' in one ? (one.codes ?? []) : []));
  return [...new Set(codes)].sort();
};

/**
 * True if a condition of an extension may be Progressing (of a shoot: gardener/shoot-conditions.ts). A False condition may not: after a standstill, it must not
 * look as if it had just started to progress.
 */
const mayProgress = (outcomes: readonly CheckOutcome[], { old, now }: AggregateContext): boolean => {
  const thresholds = outcomes.flatMap((one) =>
    one.status === 'Progressing' ? (one.progressingThresholdMs ?? []) : [],
  );
  if (thresholds.length === 0 || old?.status === 'False') return false;
  if (old === undefined || old.status === 'True') return true;
  return now - Date.parse(old.lastTransitionTime) <= Math.min(...thresholds);
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
  const isBad = count('False') > 0;
  if (!isBad && count('Progressing') === 0) {
    return { status: 'True', reason: 'HealthCheckSuccessful', message: 'All health checks successful' };
  }
  const problem = { message: details, codes: codesOf(outcomes) };
  return !isBad && mayProgress(outcomes, context)
    ? { status: 'Progressing', reason: 'HealthCheckProgressing', ...problem }
    : { status: 'False', reason: 'HealthCheckUnsuccessful', ...problem };
};
