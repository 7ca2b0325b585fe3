import type { SimEvent } from '../history.ts';
import type { Model, PodModel, ServiceModel, ShootModel } from '../model.ts';
import type { Invariant } from './invariant.ts';

type PodEvent = Extract<SimEvent, { kind: 'pod' }>;

/** True if the event is a delete by a watchdog that the API server has carried out. */
const isWeeded = (event: SimEvent): event is PodEvent =>
  event.kind === 'pod' &&
  event.writer !== 'world' &&
  event.before?.isDeleting === false &&
  event.after?.isDeleting !== false;

/** Lag of a watch, and the time that a delete waits for its turn, without faults. */
const lagMs = 2_500;

const mayBeWeeded = ({ isReady, since }: ServiceModel, model: Model): boolean => {
  if (model.at < model.hamperedUntil()) return true;
  if (!isReady) return model.at - since <= lagMs;
  const begunAt = Math.max(since, model.hamperedUntil(), ...model.acting.values());
  return model.at - begunAt <= model.rules.longestWeedingMs + lagMs;
};

/** Only crash-looping dependents with an owner are deleted, while their service is ready and is being weeded. */
export const weedsOnly: Invariant = {
  name: 'weeds only',
  begin: (model) => (event) => {
    if (!isWeeded(event) || event.before === undefined) return undefined;
    const { shoot, name, before } = event;
    const what = `${shoot}: ${name} was deleted,`;
    if (!before.isCrashLooping) return `${what} which does not crash-loop`;
    if (before.owner === undefined) return `${what} which nobody would bring back`;
    const services = model.rules.possibleServices(before.labels);
    const isWeeding = services.some((service) => {
      const known = model.shoots.get(shoot)?.services.get(service);
      return known !== undefined && mayBeWeeded(known, model);
    });
    return isWeeding ? undefined : `${what} while none of its services was weeded for (${services.join(', ')})`;
  },
};

/** Time from when a pod may be deleted until it is: lists and watches open, and a response or two are in flight. */
const reactionMs = 5_000;

/** Returns the time by which the pod must be deleted; undefined if it need not be. */
const dueAt = (pod: PodModel, { services }: ShootModel, model: Model): number | undefined => {
  const actingSince = model.plan.elected ? model.acting.get(model.leader ?? '') : [...model.acting.values()].at(-1);
  if (pod.crashLoopingSince === undefined || pod.isDeleting || actingSince === undefined) return undefined;
  const clearSince = model.hamperedUntil();
  const earliest = Math.max(pod.crashLoopingSince, actingSince, clearSince);
  const dues = model.rules.certainServices(pod.labels).flatMap((name) => {
    const service = services.get(name);
    // A process that starts weeds for every service that is ready. One that was hampered may not have seen that a service was not ready.
    const begunAt = Math.max(service?.since ?? 0, actingSince);
    if (service?.isReady !== true || begunAt < clearSince) return [];
    const due = Math.max(earliest, begunAt) + reactionMs;
    return due < begunAt + model.rules.shortestWeedingMs ? [due] : [];
  });
  return dues.length === 0 ? undefined : Math.min(...dues);
};

/** With a leader and a working API server, no dependent crash-loops on while its service is weeded for, except for its owner's back-off. */
export const weeded: Invariant = {
  name: 'weeded in time',
  begin: (model) => {
    /** Owners for which a back-off may run. */
    const backedOff = new Set<string>();
    return (event) => {
      if (isWeeded(event)) backedOff.add(event.before?.owner ?? '');
      if (event.kind !== 'tick' || model.plan.dryRun) return undefined;
      for (const [name, shoot] of model.shoots) {
        for (const pod of shoot.pods.values()) {
          if (pod.owner === undefined || backedOff.has(pod.owner)) continue;
          const due = dueAt(pod, shoot, model);
          if (due === undefined || model.at <= due) continue;
          return `${name}: ${pod.name} still crash-loops, ${((model.at - due) / 1_000).toFixed(1)} s after it had to be deleted`;
        }
      }
      return undefined;
    };
  },
};
