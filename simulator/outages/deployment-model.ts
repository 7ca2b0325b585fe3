import type { DeploymentFacts, SimEvent } from './history.ts';

/** Monotonic times of the run, in milliseconds. */
export interface DeploymentModel extends DeploymentFacts {
  /** When the count became what it is. */
  readonly countSince: number;
  /** When it last was up, seen by its controller and had a ready replica; -Infinity: never. */
  readonly readyAt: number;
  /** When it last carried ignore-scaling. */
  readonly ignoredAt: number;
  /** The last count above 0 that anybody but a watchdog gave it. */
  readonly desired: number;
}

/** Takes in a change. Pure. */
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
