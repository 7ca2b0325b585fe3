import { hindersProtection } from '../hindrance.ts';
import type { Model, ShootModel } from '../model.ts';
import { type Invariant, watchdogWrite } from './invariant.ts';

const problemsOf = (name: string, shoot: ShootModel, model: Model): readonly string[] =>
  [...shoot.deployments].flatMap(([deployment, { replicas, desired, isHeld, isIgnored, stored }]) => {
    const what = `${name}: ${deployment}`;
    const { phase } = shoot;
    if (phase === 'release') return isHeld ? [`${what} still carries the annotation`] : [];
    if (isIgnored || phase === 'leave' || phase === 'missing') return [];
    const onlyHeld = phase === 'restore' || model.candidates(name).length === 1;
    // Only held resources are restored with one candidate, or without probes: not what its owner took over while it was held, or gave back.
    const isOwners = onlyHeld && !isHeld && stored !== undefined;
    if (isOwners && replicas === 0) return [];
    if (replicas !== desired) {
      return [`${what} has ${String(replicas)} replicas, not the ${String(desired)} of before`];
    }
    return isHeld || (stored !== undefined && !isOwners) ? [`${what} still carries annotations`] : [];
  });

/** Returns the differences from the former state of the world. In a dry run there are none. */
export const unrestored = (model: Model): readonly string[] =>
  [...model.shoots].flatMap(([name, shoot]) => problemsOf(name, shoot, model));

/** After the recovery, everything is as before, or given back to its owner. */
export const restoration: Invariant = {
  name: 'restored in the end',
  begin: (model) => (event) => (event.kind === 'settled' ? unrestored(model)[0] : undefined),
};

/** A scale-down keeps the count that it takes away, and no watchdog changes another count than 0: no change of another writer is lost. */
export const counts: Invariant = {
  name: 'no count lost',
  begin: () => (event) => {
    const write = watchdogWrite(event);
    if (write === undefined || write.direction === 'annotations') return undefined;
    const { shoot, name, before, after, direction } = write;
    const what = `${shoot}: ${name} ${String(before.replicas)} -> ${String(after.replicas)}`;
    if (direction === 'up') return before.replicas === 0 ? undefined : `${what}: a count that was not 0 was changed`;
    return after.stored === String(before.replicas) ? undefined : `${what} stored ${after.stored ?? 'nothing'}`;
  },
};

/** Time to notice a pause: an open watch shows the annotation at once, but a request may be in flight. */
const heardMs = 10_000;

/** No process scales a paused shoot down, neither the leader nor a standby in its place. Nobody scales what carries ignore-scaling. */
export const untouched: Invariant = {
  name: 'paused and ignored are untouched',
  begin: (model) => (event) => {
    const write = watchdogWrite(event);
    if (write === undefined || write.direction === 'annotations') return undefined;
    const { shoot, name, direction, before } = write;
    if (before.isIgnored) return `${shoot}: ${name} was scaled ${direction} although it carries ignore-scaling`;
    const { at: now, plan } = model;
    const isPaused = plan.faults.some(
      ({ at, forMs, fault }) =>
        fault.kind === 'protection-pause' && hindersProtection(fault, shoot) && now >= at + heardMs && now < at + forMs,
    );
    if (direction === 'up' || !isPaused || now < model.hamperedUntil()) return undefined;
    return `${shoot}: ${name} was scaled down during a pause`;
  },
};
