import type { LastOperation } from '../../domain/index.ts';
import { type Finding, unchecked } from './finding.ts';
import type { Circumstances } from './observation.ts';

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

/** Of what only the shoot's own API server could tell, while there is no way to ask it. */
export const unreachableFinding = ({ view, shoot }: Circumstances): Finding | undefined => {
  switch (view.kind) {
    case 'looked':
    case 'asleep':
      return undefined;
    case 'not-running':
      return unchecked(notRunning(shoot.lastOperation));
    case 'no-client':
      return unchecked(`Could not initialize Shoot client for health check: ${view.error}`);
  }
};
