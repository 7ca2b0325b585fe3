import { gardenSettings } from '../../harness/index.ts';
import type { ProcessName } from '../history.ts';
import { missingMs } from '../facts.ts';
import { type Model, type ShootModel, sentAtOf } from '../model.ts';
import { stalledSpells } from '../process-model.ts';
import { hindersProtection } from '../hinders-protection.ts';
import { type Known, stateful } from './invariant.ts';
import { type WatchdogWrite, watchdogWrite } from './scaling.ts';

/** Tolerance for a write that was in flight, or that an observation from just before has caused. */
const underWayMs = 5_000;
/** Time until a process that starts, or that can read the seed again, knows the objects. */
const learningMs = 15_000;
const toleranceMs = 100;

const delayMs = (name: string): number =>
  gardenSettings.dependentResources.find(({ ref }) => ref.name === name)?.scaleUp.initialDelayMs ?? 0;

/** Time at which the restoration may have begun, by shoot. Absent while nothing has been restored since the last scale-down. */
type Restorations = ReadonlyMap<string, number>;

/** True if the process started so late that it may not have known the Namespace. */
const isNew = (process: ProcessName, since: number, model: Model): boolean =>
  (model.processes.byName.get(process)?.startedAt ?? Number.POSITIVE_INFINITY) > since - learningMs;

/** True if a fault may have hidden the change of the cluster from the process. A reload is not an excuse. */
const isExcused = (process: ProcessName, since: number, { processes, at }: Model): boolean => {
  const stalls = processes.stalls.filter(({ cause }) => cause.fault.kind !== 'reload');
  return stalledSpells({ ...processes, stalls }, process).some(
    ({ from, to }) => from <= at && to >= since - learningMs,
  );
};

/** Returns when the restoration with this first write began. A first write to MCM comes after its delay of 30 s, if the level before was up. */
const beganAt = ({ name, writer }: WatchdogWrite, shoot: ShootModel | undefined, model: Model): number => {
  const sentAt = sentAtOf(model, writer);
  const isDelayed = delayMs(name) > 0 && sentAt - (shoot?.phaseSince ?? 0) < underWayMs + delayMs(name);
  return isDelayed ? sentAt - underWayMs - delayMs(name) : model.at;
};

/** True if a pause of the shoot may have caused the restoration. */
const isPaused = (name: string, { phaseSince }: ShootModel, { model, rules }: Known): boolean =>
  rules.plan.faults.some(
    ({ at, forMs, fault }) =>
      fault.kind === 'protection-pause' && hindersProtection(fault, name) && at <= model.at && at + forMs >= phaseSince,
  );

const judge = (write: WatchdogWrite, shoot: ShootModel, known: Known): string | undefined => {
  const { model } = known;
  const sentAt = sentAtOf(model, write.writer);
  const sinceMs = sentAt - shoot.phaseSince;
  if (sinceMs < underWayMs || isExcused(write.writer.process, shoot.phaseSince, model)) return undefined;
  if (isPaused(write.shoot, shoot, known)) return undefined;
  const what = `${write.shoot}: ${write.name} was restored ${(sinceMs / 1_000).toFixed(1)} s after`;
  if (shoot.phase === 'missing' && sinceMs < missingMs - toleranceMs) return `${what} its Secret had gone`;
  const isLeft = shoot.phase === 'release' && !isNew(write.writer.process, shoot.phaseSince, model);
  return isLeft ? `${what} its Namespace was deleted` : undefined;
};

/**
 * With the cluster source `secret`, held resources stay held while the Secret is missing, and replicas are left to their owner while the
 * Namespace is being deleted. A restoration that has begun continues.
 */
export const missingSecret = stateful<Restorations>(
  'held while its Secret is missing',
  new Map(),
  (state, event, known) => {
    const write = watchdogWrite(event);
    const { model, rules } = known;
    if (write === undefined || write.direction === 'marks' || rules.plan.source !== 'secret') return { state };
    const next = new Map(state);
    if (write.direction === 'down') {
      next.delete(write.shoot);
      return { state: next };
    }
    const shoot = model.shoots.get(write.shoot);
    const began = state.get(write.shoot) ?? beganAt(write, shoot, model);
    next.set(write.shoot, began);
    if (shoot === undefined || began < shoot.phaseSince) return { state: next };
    return { state: next, problem: judge(write, shoot, known) };
  },
);
