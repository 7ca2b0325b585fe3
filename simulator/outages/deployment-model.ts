import type { DeploymentFacts, SimEvent } from './history.ts';

/** State of a Deployment. Monotonic times of the run, in milliseconds. */
export interface DeploymentModel extends DeploymentFacts {
  /** Time at which the replicas got their current value. */
  readonly countSince: number;
  /** Last time at which it was scaled up, observed by its controller, and had a ready replica; -Infinity if never. */
  readonly readyAt: number;
  /** Last time at which it had the annotation ignore-scaling; -Infinity if never. */
  readonly ignoredAt: number;
  /** The last replicas above 0 that another writer than a watchdog has set. */
  readonly desired: number;
}

/** Applies a change. Pure. */
export const learnDeployment = (
  known: DeploymentModel | undefined,
  { after, writer, at }: Extract<SimEvent, { kind: 'deployment' }>,
): DeploymentModel | undefined => {
  if (after === undefined) return undefined;
  const isDesired = writer === 'world' && after.replicas > 0 && after.replicas !== known?.replicas;
  const isReady = after.replicas > 0 && after.isObserved && after.ready > 0;
  const wasReady = known !== undefined && known.replicas > 0 && known.isObserved && known.ready > 0;
  return {
    ...after,
    countSince: known?.replicas === after.replicas ? known.countSince : at,
    readyAt: isReady || wasReady ? at : (known?.readyAt ?? Number.NEGATIVE_INFINITY),
    ignoredAt: after.isIgnored || known?.isIgnored === true ? at : (known?.ignoredAt ?? Number.NEGATIVE_INFINITY),
    desired: isDesired ? after.replicas : (known?.desired ?? after.replicas),
  };
};
