import type { ConditionFailure, ConditionStatus, Result } from '../../domain/index.ts';

/** What a check has found; with the stored condition it makes the new one. `Failed` is False or, within the grace of its type, Progressing. */
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

/** Of a check that could not be carried out. */
export const unchecked = (problem: string): Finding => ({
  status: 'Unknown',
  reason: 'ConditionCheckError',
  message: problem,
});

/** Checks what could be read. */
export const ifRead = <T>(read: Result<T, string>, check: (value: T) => Finding | undefined): Finding | undefined =>
  read.ok ? check(read.value) : unchecked(read.error);
