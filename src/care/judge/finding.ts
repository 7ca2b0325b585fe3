import type { Finding } from '../../gardener/shoot-conditions.ts';
import type { LastOperation } from '../../gardener/shoot-status.ts';
import type { CheckInput, Read } from './observation.ts';

export const healthy = (reason: string, message: string): Finding => ({ status: 'True', reason, message });

export const failed = (reason: string, message: string, codes?: readonly string[]): Finding => ({
  status: 'Failed',
  reason,
  message,
  codes,
});

/** Returns the finding of a check that could not be carried out. */
export const checkError = (problem: string): Finding => ({
  status: 'Unknown',
  reason: 'ConditionCheckError',
  message: problem,
});

/** Checks the value of a successful read. A failed read is an error of the check. */
export const ifRead = <T>(read: Read<T>, check: (value: T) => Finding | undefined): Finding | undefined =>
  read.ok ? check(read.value) : checkError(read.error);

/** Returns the first finding of the items, each checked in turn. */
export const firstFinding = <T>(items: readonly T[], check: (item: T) => Finding | undefined): Finding | undefined => {
  for (const item of items) {
    const finding = check(item);
    if (finding !== undefined) return finding;
  }
  return undefined;
};

const notRunning = (lastOperation: LastOperation | undefined): string => {
  switch (lastOperation?.type) {
    case undefined:
    case 'Create':
      return 'Shoot control plane has not been fully created yet.';
    case 'Delete':
      return 'Shoot control plane has already been or is about to be deleted.';
    default:
      return 'Shoot control plane is not running at the moment.';
  }
};

/** Returns why the shoot's API server cannot be called, for the checks that need it. */
export const unreachableFinding = ({ view, shoot }: CheckInput): Finding | undefined => {
  if (view.kind === 'not-running') return checkError(notRunning(shoot.lastOperation));
  if (view.kind === 'no-client') return checkError(`Could not initialize Shoot client for health check: ${view.error}`);
  return undefined;
};
