import type { LastOperation } from '../../gardener/shoot-status.ts';
import { type Finding, checkError } from './finding.ts';
import type { CheckInput } from './observation.ts';

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
  switch (view.kind) {
    case 'observed':
    case 'hibernated':
      return undefined;
    case 'not-running':
      return checkError(notRunning(shoot.lastOperation));
    case 'no-client':
      return checkError(`Could not initialize Shoot client for health check: ${view.error}`);
  }
};
