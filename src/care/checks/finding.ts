import type { ConditionFailure } from '../../gardener/condition-thresholds.ts';
import type { ConditionStatus } from '../../gardener/condition.ts';
import type { Result } from '../../kubernetes/api/errors.ts';

/** Result of a check. `Failed` becomes False or, within the threshold of its condition type, Progressing. */
export interface Finding extends ConditionFailure {
  readonly status: ConditionStatus | 'Failed';
}

export const healthy = (reason: string, message: string): Finding => ({ status: 'True', reason, message });

export const failed = (reason: string, message: string, codes: readonly string[] = []): Finding => ({
  status: 'Failed',
  reason,
  message,
  ...(codes.length === 0 ? {} : { codes }),
});

/** Returns the finding of a check that could not be carried out. */
export const checkError = (problem: string): Finding => ({
  status: 'Unknown',
  reason: 'ConditionCheckError',
  message: problem,
});

/** Checks the value of a successful read. A failed read is an error of the check. */
export const ifRead = <T>(read: Result<T, string>, check: (value: T) => Finding | undefined): Finding | undefined =>
  read.ok ? check(read.value) : checkError(read.error);
