import type { DeploymentFacts, SimEvent } from '../history.ts';
import type { Model } from '../model.ts';

/** Receives every event in order, after the model has, and returns a problem as soon as there is one. */
export type Checker = (event: SimEvent) => string | undefined;

/** An outcome that must never be. `begin` creates the checker of one run. */
export interface Invariant {
  readonly name: string;
  begin(model: Model): Checker;
}

/** A change of a Deployment by a watchdog. */
export interface WatchdogWrite {
  readonly shoot: string;
  readonly name: string;
  readonly before: DeploymentFacts;
  readonly after: DeploymentFacts;
  readonly process: string;
  readonly sentAt: number;
  readonly direction: 'down' | 'up' | 'annotations';
}

/** Returns the change of a Deployment by a watchdog that an event shows; undefined for all other events. */
export const watchdogWrite = (event: SimEvent): WatchdogWrite | undefined => {
  if (event.kind !== 'deployment' || event.writer === 'world') return undefined;
  const { shoot, name, before, after, writer } = event;
  if (before === undefined || after === undefined) return undefined;
  const direction = after.replicas === before.replicas ? 'annotations' : after.replicas === 0 ? 'down' : 'up';
  return { shoot, name, before, after, ...writer, direction };
};
