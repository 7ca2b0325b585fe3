import { gardenSettings } from '../../harness/index.ts';
import type { Life } from '../history.ts';
import { missedMs } from '../facts.ts';
import { type Model, type ShootModel, exchangeKey } from '../model.ts';
import { hamperedSpells } from '../process-model.ts';
import { touches } from '../touches.ts';
import { type Known, stateful } from './invariant.ts';
import { type WatchdogWrite, watchdogWrite } from './scaling.ts';

/** A write that was on its way, or that a look from just before has led to. */
const underWayMs = 5_000;
/** Until a process that starts, or that sees the seed again, knows what is there. */
const learningMs = 15_000;
const toleranceMs = 100;

const delayMs = (name: string): number =>
  gardenSettings.dependentResources.find(({ ref }) => ref.name === name)?.scaleUp.initialDelayMs ?? 0;

/** By shoot: when its restoration may have begun; absent while nothing has been restored since the last scale-down. */
type Restorations = ReadonlyMap<string, number>;

/** It may have known nothing of the Namespace. */
const isNew = (life: Life, since: number, model: Model): boolean =>
  (model.processes.lives.get(life)?.startedAt ?? Number.POSITIVE_INFINITY) > since - learningMs;

/** It may not have heard what became of the cluster. Another configuration is no excuse. */
const isExcused = (life: Life, since: number, { processes, at }: Model): boolean => {
  const hindrances = processes.hindrances.filter(({ cause }) => cause.fault.kind !== 'reload');
  return hamperedSpells({ ...processes, hindrances }, life).some(
    ({ from, to }) => from <= at && to >= since - learningMs,
  );
};

/** Of the first write. MCM comes up 30 s after what came before it; where that had been up all along, its restoration began so much earlier. */
const beganAt = ({ name, writer }: WatchdogWrite, shoot: ShootModel | undefined, model: Model): number => {
  const sentAt = model.exchanges.get(exchangeKey(writer))?.sentAt ?? model.at;
  const isDelayed = delayMs(name) > 0 && sentAt - (shoot?.phaseSince ?? 0) < underWayMs + delayMs(name);
  return isDelayed ? sentAt - underWayMs - delayMs(name) : model.at;
};

/** A pause restores what is held. */
const isPaused = (name: string, { phaseSince }: ShootModel, { model, rules }: Known): boolean =>
  rules.plan.faults.some(
    ({ at, forMs, fault }) =>
      fault.kind === 'protection-pause' && touches(fault, name) && at <= model.at && at + forMs >= phaseSince,
  );

const judge = (write: WatchdogWrite, shoot: ShootModel, known: Known): string | undefined => {
  const { model } = known;
  const sentAt = model.exchanges.get(exchangeKey(write.writer))?.sentAt ?? model.at;
  const sinceMs = sentAt - shoot.phaseSince;
  if (sinceMs < underWayMs || isExcused(write.writer.life, shoot.phaseSince, model)) return undefined;
  if (isPaused(write.shoot, shoot, known)) return undefined;
  const what = `${write.shoot}: ${write.name} was restored ${(sinceMs / 1_000).toFixed(1)} s after`;
  if (shoot.phase === 'missed' && sinceMs < missedMs - toleranceMs) return `${what} its Secret had gone`;
  const isLeft = shoot.phase === 'release' && !isNew(write.writer.life, shoot.phaseSince, model);
  return isLeft ? `${what} its Namespace was deleted` : undefined;
};

/**
 * What is held of a cluster that goes by its Secret stays held while that is missed, and its counts are left to their owner while its Namespace is being deleted. A
 * restoration that is under way goes on.
 */
export const missedSecret = stateful<Restorations>(
  'held while its Secret is missed',
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
