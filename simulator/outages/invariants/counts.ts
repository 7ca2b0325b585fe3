import { stateful } from './invariant.ts';
import { type WatchdogWrite, watchdogWrite } from './scaling.ts';

/** Replicas before scale-downs, by shoot and Deployment. */
type Former = ReadonlyMap<string, number>;

const readable = (stored: string | undefined): number | undefined =>
  stored !== undefined && /^[1-9]\d{0,9}$/.test(stored) ? Number(stored) : undefined;

const downProblem = ({ shoot, name, before, after }: WatchdogWrite): string | undefined => {
  const counts = `${shoot}: ${name} ${String(before.replicas)} -> ${String(after.replicas)}`;
  if (after.stored !== String(before.replicas)) return `${counts} stored ${after.stored ?? 'nothing'}`;
  return after.isHeld ? undefined : `${counts} left no mark`;
};

const upProblem = ({ shoot, name, before, after }: WatchdogWrite, former: number | undefined): string | undefined => {
  const counts = `${shoot}: ${name} ${String(before.replicas)} -> ${String(after.replicas)}`;
  if (before.replicas !== 0) return `${counts}: a count that was not 0 was changed`;
  const wanted = former ?? readable(before.stored) ?? 1;
  if (after.replicas !== wanted) return `${counts}, but it had ${String(wanted)}`;
  return after.isHeld || after.stored !== undefined ? `${counts} left marks` : undefined;
};

/** A scaled-down Deployment gets back exactly its former replicas. One that an operator took over, or that is already at 0, is left alone. */
export const counts = stateful<Former>('exact counts', new Map(), (former, event) => {
  if (event.kind !== 'deployment') return { state: former };
  const key = `${event.shoot}/${event.name}`;
  const write = watchdogWrite(event);
  if (write === undefined) {
    // Another writer that changes the replicas decides on them from now on.
    const isRecounted =
      event.before?.replicas !== event.after?.replicas || event.before?.stored !== event.after?.stored;
    if (!isRecounted) return { state: former };
    const rest = new Map(former);
    rest.delete(key);
    return { state: rest };
  }
  const { before, after, direction } = write;
  if (before.isIgnored && direction !== 'marks') {
    return { state: former, problem: `${key}: scaled ${direction} although it carries ignore-scaling` };
  }
  switch (direction) {
    case 'down':
      return { state: new Map(former).set(key, before.replicas), problem: downProblem(write) };
    case 'up':
      return { state: former, problem: upProblem(write, former.get(key)) };
    case 'marks': {
      const isOverwritten = after.stored !== undefined && after.stored !== before.stored;
      const problem = isOverwritten
        ? `${key}: the stored count ${before.stored ?? 'nothing'} became ${after.stored}`
        : undefined;
      return { state: former, problem };
    }
  }
});
