import type { ShootView } from '../../gardener/cluster.ts';
import type { LifecycleDecision } from './lifecycle.ts';

/** Stops the prober when Gardener has deleted the Cluster: no resources are left to restore. */
export const shootGone: LifecycleDecision = { kind: 'stop', releasePolicy: 'nothing', reason: 'the Cluster is gone' };

/** Decides if a shoot is probed. */
export const decideShootLifecycle = (shoot: ShootView): LifecycleDecision => {
  const { lastOperation } = shoot;
  if (shoot.deleting) return { kind: 'stop', releasePolicy: 'release', reason: 'the shoot is being deleted' };
  if (shoot.hibernationEnabled) return { kind: 'stop', releasePolicy: 'release', reason: 'hibernation is enabled' };
  if (lastOperation?.type === 'Migrate') {
    return { kind: 'stop', releasePolicy: 'release', reason: 'its control plane is being migrated' };
  }
  if (!shoot.hasWorkers) return { kind: 'stop', releasePolicy: 'restore', reason: 'the shoot has no workers' };
  if (shoot.hibernated) return { kind: 'leave', reason: 'the shoot is waking up' };
  if (lastOperation === undefined) return { kind: 'leave', reason: 'its creation has not begun' };
  return decideByOperation(shoot, lastOperation);
};

const decideByOperation = (
  { poolConditions, nodeMonitorGraceMs }: ShootView,
  { type, state }: { readonly type: string; readonly state: string },
): LifecycleDecision => {
  const settings = { poolConditions, ...(nodeMonitorGraceMs === undefined ? {} : { nodeMonitorGraceMs }) };
  switch (type) {
    case 'Reconcile':
      return { kind: 'run', settings };
    case 'Create':
    case 'Restore':
      return state === 'Succeeded'
        ? { kind: 'run', settings }
        : { kind: 'leave', reason: `its last operation ${type} is ${state === '' ? 'not finished' : state}` };
    default:
      return { kind: 'leave', reason: `its last operation is ${type}` };
  }
};
