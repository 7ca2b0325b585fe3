import { type DependentResource, refKey } from '../../domain/index.ts';
import type { ScaleInfo } from '../../domain/index.ts';
import { type Direction, type Scope, nextMove } from './moves.ts';
import {
  type Action,
  type Operation,
  type Outcome,
  type Snapshot,
  idleOperation,
  isOver,
  settleOutcome,
  startOperation,
  wakeTime,
} from './operation.ts';
import { stepOperation } from './operation-step.ts';

/** A level of a scale-down holds up the next one for this long at most, in milliseconds: KCM gives 10 s in all. */
const downLevelLimitMs = 3_000;

/**
 * The scaling of a shoot's dependent resources in one direction, level by level: a value that `advanceFlow` moves on. Times are
 * monotonic milliseconds.
 */
export interface Flow {
  readonly id: number;
  readonly direction: Direction;
  readonly scope: Scope;
  /** The verdict behind it, in words and numbers. */
  readonly reason: string;
  readonly startedAt: number;
  /** Ascending. */
  readonly levels: readonly number[];
  readonly startedLevels: number;
  readonly levelStartedAt: number;
  readonly operations: readonly Operation[];
  /** When the verdict was last confirmed; a scale-up starts no level on one older than `verdictMaxAgeMs`. */
  readonly verdictAt: number;
  readonly verdictMaxAgeMs: number;
  /** No new requests; only answers to writes under way are awaited. */
  readonly ending?: 'failed' | 'cancelled';
}

export type FlowEnd = 'completed' | 'failed' | 'cancelled';

export type SnapshotOf = (key: string) => Snapshot;

export interface FlowPlan {
  readonly id: number;
  readonly direction: Direction;
  readonly scope: Scope;
  readonly reason: string;
  readonly resources: readonly DependentResource[];
  readonly now: number;
  readonly verdictMaxAgeMs: number;
  /** Read every resource from the API server first: a flow that was cancelled may have written what the watch does not show yet. */
  readonly readFirst: boolean;
}

/** A flow that has yet to look at its resources. */
export const createFlow = (plan: FlowPlan): Flow => {
  const operations = plan.resources.flatMap((resource) => {
    const info = scaleInfo(resource, plan.direction);
    if (info === undefined) return [];
    const optional = mayBeMissing(resource, plan);
    return [idleOperation(resource, { key: refKey(resource.ref), info, optional, mustRead: plan.readFirst })];
  });
  return {
    id: plan.id,
    direction: plan.direction,
    scope: plan.scope,
    reason: plan.reason,
    startedAt: plan.now,
    levels: [...new Set(operations.map(({ info }) => info.level))].sort((a, b) => a - b),
    startedLevels: 0,
    levelStartedAt: plan.now,
    operations,
    verdictAt: plan.now,
    verdictMaxAgeMs: plan.verdictMaxAgeMs,
  };
};

/** A release waits for no order and no delay: it takes marks away, nothing else. */
const scaleInfo = ({ scaleUp, scaleDown }: DependentResource, direction: Direction): ScaleInfo | undefined => {
  switch (direction) {
    case 'down':
      return scaleDown;
    case 'up':
      return scaleUp;
    case 'release':
      return { level: 0, initialDelayMs: 0, timeoutMs: scaleUp.timeoutMs };
  }
};

/** What is not there holds no mark either. */
const mayBeMissing = ({ optional }: DependentResource, { scope }: Pick<FlowPlan, 'scope'>): boolean =>
  optional || scope === 'held';

/**
 * Whether there is anything to write, to read or to complain about. Without it no flow need start: waiting for resources that are at
 * their target changes nothing.
 */
export const hasWork = (plan: Omit<FlowPlan, 'id' | 'now' | 'reason'>, snapshotOf: SnapshotOf): boolean =>
  plan.readFirst ||
  plan.resources.some((resource) => {
    if (scaleInfo(resource, plan.direction) === undefined) return false;
    const snapshot = snapshotOf(refKey(resource.ref));
    switch (snapshot.kind) {
      case 'unknown':
        return true;
      case 'absent':
      case 'not-served':
        return !mayBeMissing(resource, plan);
      case 'state':
        return nextMove(resource, snapshot.state, plan).kind === 'write';
    }
  });

export interface FlowStep {
  readonly flow: Flow;
  readonly actions: readonly Action[];
  /** Monotonic instant of the next step that needs neither an answer nor a change; Infinity when there is none. */
  readonly wakeAt: number;
  readonly end?: FlowEnd;
}

export const advanceFlow = (
  flow: Flow,
  input: { readonly now: number; readonly snapshotOf: SnapshotOf; readonly outcomes: readonly Outcome[] },
): FlowStep => {
  const answered = {
    ...flow,
    operations: flow.operations.map((operation) => {
      const outcome = input.outcomes.find(({ key }) => key === operation.key);
      return outcome === undefined ? operation : settleOutcome(operation, outcome, input.now);
    }),
  };
  return endOrRun(answered, input);
};

const endOrRun = (flow: Flow, input: { readonly now: number; readonly snapshotOf: SnapshotOf }): FlowStep => {
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
    if (!mayStartNextLevel(current, input.now)) break;
    current = startNextLevel(current, input.now);
  }
  if (current.ending !== undefined) return awaitWrites(current, actions);
  const end = endOf(current);
  const wakeAt = end === undefined ? nextWake(current, input.snapshotOf) : Number.POSITIVE_INFINITY;
  return { flow: current, actions, wakeAt, ...(end === undefined ? {} : { end }) };
};

/** An error ends a scale-up; the next run starts it again. */
const hasFailed = ({ direction, operations }: Flow): boolean =>
  direction === 'up' && operations.some(({ phase }) => phase.kind === 'failed');

const stepStarted = (
  flow: Flow,
  { now, snapshotOf }: { readonly now: number; readonly snapshotOf: SnapshotOf },
): { readonly flow: Flow; readonly actions: readonly Action[] } => {
  const actions: Action[] = [];
  const operations = flow.operations.map((operation) => {
    const { direction, scope } = flow;
    const stepped = stepOperation(operation, { direction, scope, now, snapshot: snapshotOf(operation.key) });
    if (stepped.action !== undefined) actions.push(stepped.action);
    return stepped.operation;
  });
  return { flow: { ...flow, operations }, actions };
};

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

/**
 * Up is strict (bringing MCM back before KCM is ready is how healthy machines get replaced) and needs a fresh verdict; down waits for a
 * level, but not for long: what can be protected is protected.
 */
const mayStartNextLevel = (flow: Flow, now: number): boolean => {
  if (flow.startedLevels === flow.levels.length) return false;
  const isLevelOver = currentLevel(flow).every(isOver);
  switch (flow.direction) {
    case 'down':
      return isLevelOver || now >= levelCutoff(flow);
    case 'up':
      return isLevelOver && now - flow.verdictAt <= flow.verdictMaxAgeMs;
    case 'release':
      return isLevelOver;
  }
};

/** An initial delay is the operator's word and is served before the limit runs. */
const levelCutoff = (flow: Flow): number =>
  flow.levelStartedAt +
  Math.max(
    0,
    ...currentLevel(flow).map(({ info }) => info.initialDelayMs + Math.min(info.timeoutMs, downLevelLimitMs)),
  );

const nextWake = (flow: Flow, snapshotOf: SnapshotOf): number => {
  const hasMore = flow.direction === 'down' && flow.startedLevels < flow.levels.length;
  return Math.min(
    hasMore ? levelCutoff(flow) : Number.POSITIVE_INFINITY,
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

/** The same verdict again: the flow goes on, with a fresh mandate. */
export const confirmFlow = (flow: Flow, now: number): Flow => ({ ...flow, verdictAt: now });
