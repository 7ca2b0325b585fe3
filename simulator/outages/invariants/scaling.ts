import type { DeploymentFacts, ExchangeId, SimEvent } from '../history.ts';

/** A change of a Deployment's replicas or marks by a watchdog. */
export interface WatchdogWrite {
  readonly shoot: string;
  readonly name: string;
  readonly before: DeploymentFacts;
  readonly after: DeploymentFacts;
  readonly writer: ExchangeId;
  readonly direction: 'down' | 'up' | 'marks';
}

/** Returns the change that an event shows; undefined for all other events. */
export const watchdogWrite = (event: SimEvent): WatchdogWrite | undefined => {
  if (event.kind !== 'deployment' || event.writer === 'world') return undefined;
  const { shoot, name, before, after, writer } = event;
  if (before === undefined || after === undefined) return undefined;
  const direction = after.replicas === before.replicas ? 'marks' : after.replicas === 0 ? 'down' : 'up';
  return { shoot, name, before, after, writer, direction };
};
