import { formatHeldNote } from '../../gardener/held-note.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';
import type { WithoutLead } from './without-lead.ts';
import { stepOperation } from './operation-step.ts';
import {
  type Action,
  type Operation,
  type StepAnswer,
  type Snapshot,
  holdsUpNoLevel,
  isFoundDown,
  isOver,
  takeAnswer,
  startOperation,
  wakeTime,
} from './operation.ts';

/** A level of a scale-down holds up the next one for this long at most after its initial delay, in milliseconds: all levels together have the 10 s between the expiry age (30 s) and the grace of KCM (40 s). */
const downLevelLimitMs = 3_000;

/** A step that comes later than this, in milliseconds, means that the process or its machine was suspended: a busy processor does not delay it so long. */
const suspensionMs = 10_000;

/**
 * The scaling of a shoot's dependent resources in one direction, level by level: a value that `advanceFlow` moves on. Times are
 * monotonic milliseconds.
 */
export interface Flow {
  readonly id: number;
  readonly direction: Direction;
  readonly scope: ScalingScope;
  /** The verdict behind it, in words and numbers. */
  readonly reason: string;
  /** Why this process, which does not lead, scales down itself. */
  readonly withoutLead?: WithoutLead | undefined;
  readonly startedAt: number;
  /** Ascending by the configured level, as `createFlow` sorts them. */
  readonly levels: readonly number[];
  readonly startedLevels: number;
  readonly levelStartedAt: number;
  readonly operations: readonly Operation[];
  /** When the verdict was last confirmed; on one older than `verdictMaxAgeMs` a scale-up starts no level and scales nothing. */
  readonly verdictAt: number;
  readonly verdictMaxAgeMs: number;
  /** Latest instant at which it was to be advanced. */
  readonly wakeAt: number;
  /** The process was suspended since the verdict: what held then may hold no more, and nothing is scaled until it is given again. */
  readonly wasSuspended?: boolean;
  /** No new requests; only answers to writes under way are awaited. */
  readonly ending?: 'failed' | 'cancelled';
}

export type FlowEnd = 'completed' | 'failed' | 'cancelled';

export type SnapshotOf = (key: string) => Snapshot;

export interface FlowStep {
  readonly flow: Flow;
  readonly actions: readonly Action[];
  /** Monotonic instant of the next step that needs neither an answer nor a change; Infinity when there is none. */
  readonly wakeAt: number;
  readonly end?: FlowEnd;
}

interface FlowInput {
  readonly now: number;
  /** The same instant in milliseconds since the epoch. */
  readonly wallNow: number;
  /** Of this process, for what it writes. */
  readonly identity: string;
  readonly snapshotOf: SnapshotOf;
  /** Milliseconds for which a watch of Clusters or dependents has been away; 0 while all are open. */
  readonly seedAwayMs: number;
}

/** How long a scale-up waits for watches that are away, in milliseconds. */
const longestAwayMs = 90_000;

/**
 * True if a scale-up must wait: meanwhile the shoot may have been hibernated, and what the stores show up may be down. One that no later verdict
 * confirms (the end of probing) reads from the API server instead.
 */
export const mustAwaitWatches = (
  { verdictMaxAgeMs }: Pick<Flow, 'verdictMaxAgeMs'>,
  { seedAwayMs }: Pick<FlowInput, 'seedAwayMs'>,
): boolean => Number.isFinite(verdictMaxAgeMs) && seedAwayMs > 0 && seedAwayMs < longestAwayMs;

export const advanceFlow = (flow: Flow, input: FlowInput & { readonly answers: readonly StepAnswer[] }): FlowStep => {
  const { now } = input;
  const keepsRetrying = flow.direction === 'down' && isFresh(flow, now);
  const answered = {
    ...flow,
    wasSuspended: flow.wasSuspended === true || now - flow.wakeAt > suspensionMs,
    operations: flow.operations.map((operation) => {
      const answer = input.answers.find(({ key }) => key === operation.key);
      return answer === undefined ? operation : takeAnswer(operation, answer, { now, keepsRetrying });
    }),
  };
  return endOrRun(answered, input);
};

const endOrRun = (flow: Flow, input: FlowInput): FlowStep => {
  const actions: Action[] = [];
  let current = flow;
  while (current.ending === undefined) {
    if (hasFailed(current)) {
      current = { ...current, ending: 'failed' };
      break;
    }
    const stepped = stepStarted(current, input);
    actions.push(...stepped.actions);
    current = stepped.flow;
    if (hasFailed(current)) continue;
    if (!mayStartNextLevel(current, input)) break;
    current = startNextLevel(current, input.now);
  }
  if (current.ending !== undefined) return awaitWrites(current, actions);
  const end = endOf(current);
  const wakeAt = end === undefined ? nextWake(current, input.snapshotOf) : Number.POSITIVE_INFINITY;
  return { flow: { ...current, wakeAt }, actions, wakeAt, ...(end === undefined ? {} : { end }) };
};

/** An error ends a scale-up; the next run starts it again. */
const hasFailed = ({ direction, operations }: Flow): boolean =>
  direction === 'up' && operations.some(({ phase }) => phase.kind === 'failed');

const stepStarted = (flow: Flow, input: FlowInput): { readonly flow: Flow; readonly actions: readonly Action[] } => {
  const { now, snapshotOf } = input;
  const actions: Action[] = [];
  const { direction, scope } = flow;
  const verdictIsFresh = isVerdictFresh(flow, input);
  const note = noteOf(flow, input);
  const operations = flow.operations.map((operation) => {
    const stepped = stepOperation(operation, {
      direction,
      scope,
      note,
      withoutLead: flow.withoutLead,
      now,
      verdictIsFresh,
      snapshot: snapshotOf(operation.key),
    });
    if (stepped.action !== undefined) actions.push(stepped.action);
    return stepped.operation;
  });
  return { flow: { ...flow, operations }, actions };
};

const noteOf = ({ direction, reason }: Flow, { wallNow, identity }: FlowInput): string | undefined =>
  direction === 'down' ? formatHeldNote({ since: wallNow, reason, by: identity }) : undefined;

const startNextLevel = (flow: Flow, now: number): Flow => {
  const level = flow.levels[flow.startedLevels];
  return {
    ...flow,
    startedLevels: flow.startedLevels + 1,
    levelStartedAt: now,
    operations: flow.operations.map((operation) =>
      operation.info.level === level ? startOperation(operation, now) : operation,
    ),
  };
};

const currentLevel = (flow: Flow): readonly Operation[] =>
  flow.operations.filter(({ info }) => info.level === flow.levels[flow.startedLevels - 1]);

const isFresh = ({ verdictAt, verdictMaxAgeMs }: Flow, now: number): boolean => now - verdictAt <= verdictMaxAgeMs;

/** Initial delays, time-outs and retries within a level can outlast the verdict that started it, and the watches that it goes by. */
const isVerdictFresh = (flow: Flow, input: FlowInput): boolean => {
  switch (flow.direction) {
    case 'down':
      return flow.wasSuspended !== true;
    case 'up':
      return isFresh(flow, input.now) && !mustAwaitWatches(flow, input);
    case 'release':
      return true;
  }
};

/**
 * A scale-up waits until the level is over, and needs a fresh verdict: MCM, back before KCM is ready, would replace healthy machines. A scale-down waits for
 * the level too, but not for resources that are out of attempts, and only until `levelCutoff`: one that cannot be scaled must not leave the others unprotected.
 */
const mayStartNextLevel = (flow: Flow, input: FlowInput): boolean => {
  if (flow.startedLevels === flow.levels.length) return false;
  const level = currentLevel(flow);
  switch (flow.direction) {
    case 'down':
      if (!isVerdictFresh(flow, input)) return false;
      return level.every(holdsUpNoLevel) || input.now >= levelCutoff(flow, input.snapshotOf);
    case 'up':
      return level.every(isOver) && isVerdictFresh(flow, input);
    case 'release':
      return level.every(isOver);
  }
};

/** An initial delay is the operator's word and is served before the limit runs, by what has something to scale. */
const levelCutoff = (flow: Flow, snapshotOf: SnapshotOf): number =>
  flow.levelStartedAt +
  Math.max(
    0,
    ...currentLevel(flow)
      .filter((operation) => !isOver(operation))
      .map((operation) => {
        const { initialDelayMs, timeoutMs } = operation.info;
        const delayMs = isFoundDown(operation, snapshotOf(operation.key)) ? 0 : initialDelayMs;
        return delayMs + Math.min(timeoutMs, downLevelLimitMs);
      }),
  );

const nextWake = (flow: Flow, snapshotOf: SnapshotOf): number => {
  const isWaiting = flow.wasSuspended !== true && flow.startedLevels < flow.levels.length;
  const hasMore = flow.direction === 'down' && isWaiting;
  return Math.min(
    hasMore ? levelCutoff(flow, snapshotOf) : Number.POSITIVE_INFINITY,
    ...flow.operations.map((operation) => wakeTime(operation, snapshotOf(operation.key))),
  );
};

const endOf = (flow: Flow): FlowEnd | undefined => {
  if (flow.startedLevels < flow.levels.length || !flow.operations.every(isOver)) return undefined;
  return flow.operations.some(({ phase }) => phase.kind === 'failed') ? 'failed' : 'completed';
};

const awaitWrites = (flow: Flow, actions: readonly Action[]): FlowStep => {
  const isWriting = flow.operations.some(({ phase }) => phase.kind === 'writing');
  return {
    flow,
    actions,
    wakeAt: Number.POSITIVE_INFINITY,
    ...(isWriting || flow.ending === undefined ? {} : { end: flow.ending }),
  };
};

/** Ends waits and unsent writes at once; the flow ends when the writes under way are answered. */
export const cancelFlow = (flow: Flow): Flow => ({ ...flow, ending: 'cancelled' });

/** The same verdict again: the flow goes on, on a fresh verdict. */
export const confirmFlow = (
  flow: Flow,
  { judgedAt, scope }: { readonly judgedAt: number; readonly scope: ScalingScope },
): Flow => ({
  ...flow,
  verdictAt: judgedAt,
  wasSuspended: false,
  // A narrower scope holds from now on; a wider one is for the next flow, which takes all resources.
  scope: scope === 'held' ? 'held' : flow.scope,
});
