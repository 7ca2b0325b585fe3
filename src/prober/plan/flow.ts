import { formatHeldNote } from '../../gardener/held-note.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';
import type { WithoutLead } from './without-lead.ts';
import { stepOperation } from './operation-step.ts';
import {
  type Action,
  type Operation,
  type ActionResponse,
  type Snapshot,
  letsNextLevelStart,
  isAlreadyAtZero,
  isOver,
  applyResponse,
  startOperation,
  wakeTime,
} from './operation.ts';

/**
 * A level of a scale-down delays the next one by at most this time after its initial delay, in milliseconds. All levels together have the 10 s between the
 * expiry age (30 s) and KCM's grace period (40 s).
 */
const downLevelLimitMs = 3_000;

/** A step that is late by more than this time, in milliseconds, shows that the process or its machine was suspended: a busy CPU does not delay it so long. */
const suspensionMs = 10_000;

/** The scaling of a shoot's dependent resources in one direction, level by level; advanced by `advanceFlow`. Times are monotonic milliseconds. */
export interface Flow {
  readonly id: number;
  readonly direction: Direction;
  readonly scope: ScalingScope;
  /** Explanation of its verdict, in words and numbers. */
  readonly reason: string;
  /** Reason for which this process scales down without the lead. Absent if it leads. */
  readonly withoutLead?: WithoutLead | undefined;
  readonly startedAt: number;
  /** The configured levels, in ascending order. */
  readonly levels: readonly number[];
  readonly startedLevels: number;
  readonly levelStartedAt: number;
  readonly operations: readonly Operation[];
  /** Time of the verdict's last confirmation. On a verdict older than `verdictMaxAgeMs` a scale-up starts no level and scales nothing. */
  readonly verdictAt: number;
  readonly verdictMaxAgeMs: number;
  /** Time at which the flow is to be advanced at the latest. */
  readonly wakeAt: number;
  /** True if the process was suspended since the verdict, which may no longer be true: nothing is scaled until it is confirmed. */
  readonly wasSuspended?: boolean;
  /** Set if the flow sends no new requests and only awaits the responses to its writes in flight. */
  readonly ending?: 'failed' | 'cancelled';
}

export type FlowEnd = 'completed' | 'failed' | 'cancelled';

export type SnapshotOf = (key: string) => Snapshot;

export interface FlowStep {
  readonly flow: Flow;
  readonly actions: readonly Action[];
  /** Monotonic instant of the next step that needs neither a response nor a change; Infinity if there is none. */
  readonly wakeAt: number;
  readonly end?: FlowEnd;
}

interface FlowInput {
  readonly now: number;
  /** The same instant in milliseconds since the epoch. */
  readonly wallNow: number;
  /** Identity of this process, for the note on resources that it scales down. */
  readonly identity: string;
  readonly snapshotOf: SnapshotOf;
  /** Time for which a watch of Clusters or dependents has been interrupted, in milliseconds; 0 while all are open. */
  readonly watchesInterruptedMs: number;
}

/** Longest time that a scale-up waits for interrupted watches, in milliseconds. */
const longestAwayMs = 90_000;

/**
 * True if a scale-up must wait for interrupted watches: the shoot may have been hibernated, and resources that the caches show as up may be down. A flow
 * that no later verdict can confirm (at the end of probing) reads from the API server instead.
 */
export const mustAwaitWatches = (
  { verdictMaxAgeMs }: Pick<Flow, 'verdictMaxAgeMs'>,
  { watchesInterruptedMs }: Pick<FlowInput, 'watchesInterruptedMs'>,
): boolean => Number.isFinite(verdictMaxAgeMs) && watchesInterruptedMs > 0 && watchesInterruptedMs < longestAwayMs;

export const advanceFlow = (
  flow: Flow,
  input: FlowInput & { readonly answers: readonly ActionResponse[] },
): FlowStep => {
  const { now } = input;
  const keepsRetrying = flow.direction === 'down' && isVerdictRecent(flow, now);
  const answered = {
    ...flow,
    wasSuspended: flow.wasSuspended === true || now - flow.wakeAt > suspensionMs,
    operations: flow.operations.map((operation) => {
      const answer = input.answers.find(({ key }) => key === operation.key);
      return answer === undefined ? operation : applyResponse(operation, answer, { now, keepsRetrying });
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

/** True if an error ends the flow. Only a scale-up ends so; the next run starts it again. */
const hasFailed = ({ direction, operations }: Flow): boolean =>
  direction === 'up' && operations.some(({ phase }) => phase.kind === 'failed');

const stepStarted = (flow: Flow, input: FlowInput): { readonly flow: Flow; readonly actions: readonly Action[] } => {
  const { now, snapshotOf } = input;
  const actions: Action[] = [];
  const { direction, scope } = flow;
  const mayScaleNow = mayScale(flow, input);
  const note = noteOf(flow, input);
  const operations = flow.operations.map((operation) => {
    const stepped = stepOperation(operation, {
      direction,
      scope,
      note,
      withoutLead: flow.withoutLead,
      now,
      mayScale: mayScaleNow,
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

const isVerdictRecent = ({ verdictAt, verdictMaxAgeMs }: Flow, now: number): boolean =>
  now - verdictAt <= verdictMaxAgeMs;

/** True if the flow may still scale: delays, timeouts and retries within a level can outlast its verdict and the watches that it relies on. */
const mayScale = (flow: Flow, input: FlowInput): boolean => {
  switch (flow.direction) {
    case 'down':
      return flow.wasSuspended !== true;
    case 'up':
      return isVerdictRecent(flow, input.now) && !mustAwaitWatches(flow, input);
    case 'release':
      return true;
  }
};

/**
 * A scale-up waits until the level is over, and needs a fresh verdict: MCM, started before KCM is ready, would replace healthy machines. A scale-down waits
 * too, but not for resources that have used up their attempts, and only until `levelCutoff`: one that cannot be scaled must not leave others unprotected.
 */
const mayStartNextLevel = (flow: Flow, input: FlowInput): boolean => {
  if (flow.startedLevels === flow.levels.length) return false;
  const level = currentLevel(flow);
  switch (flow.direction) {
    case 'down':
      if (!mayScale(flow, input)) return false;
      return level.every(letsNextLevelStart) || input.now >= levelCutoff(flow, input.snapshotOf);
    case 'up':
      return level.every(isOver) && mayScale(flow, input);
    case 'release':
      return level.every(isOver);
  }
};

/** The limit starts after the initial delay, which the operator configured; a resource that is at 0 already has none to wait for. */
const levelCutoff = (flow: Flow, snapshotOf: SnapshotOf): number =>
  flow.levelStartedAt +
  Math.max(
    0,
    ...currentLevel(flow)
      .filter((operation) => !isOver(operation))
      .map((operation) => {
        const { initialDelayMs, timeoutMs } = operation.info;
        const delayMs = isAlreadyAtZero(operation, snapshotOf(operation.key)) ? 0 : initialDelayMs;
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

/** Cancels waits and unsent writes at once. The flow ends after the responses to its writes in flight. */
export const cancelFlow = (flow: Flow): Flow => ({ ...flow, ending: 'cancelled' });

/** Enters the same verdict again: the flow continues on a fresh verdict. */
export const confirmFlow = (
  flow: Flow,
  { judgedAt, scope }: { readonly judgedAt: number; readonly scope: ScalingScope },
): Flow => ({
  ...flow,
  verdictAt: judgedAt,
  wasSuspended: false,
  // A narrower scope applies at once. A wider one is left to the next flow, which covers all resources.
  scope: scope === 'held' ? 'held' : flow.scope,
});
