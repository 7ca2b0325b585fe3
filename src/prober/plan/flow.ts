import { formatHeldNote } from '../../annotations/held-note.ts';
import type { Flow, FlowEnd, FlowInput, SnapshotOf } from './flow-state.ts';
import { isVerdictRecent, levelCutoff, mayScale, mayStartNextLevel } from './flow-levels.ts';
import type { ScalingScope } from './patch-plan.ts';
import { stepOperation } from './operation-step.ts';
import { type Action, type ActionResponse, isOver, applyResponse, startOperation, wakeTime } from './operation.ts';

/** A step that is late by more than this time, in milliseconds, shows that the process or its machine was suspended: a busy CPU does not delay it so long. */
const suspensionMs = 10_000;

export interface FlowStep {
  readonly flow: Flow;
  readonly actions: readonly Action[];
  /** Monotonic instant of the next step that needs neither a response nor a change; Infinity if there is none. */
  readonly wakeAt: number;
  readonly end?: FlowEnd;
}

/** Applies the responses, steps the operations of the started levels, and starts the levels that may start now. */
export const advanceFlow = (
  flow: Flow,
  input: FlowInput & { readonly responses: readonly ActionResponse[] },
): FlowStep => {
  const { now } = input;
  const keepsRetrying = flow.direction === 'down' && isVerdictRecent(flow, now);
  const withResponses = {
    ...flow,
    wasSuspended: flow.wasSuspended === true || now - flow.wakeAt > suspensionMs,
    operations: flow.operations.map((operation) => {
      const response = input.responses.find(({ key }) => key === operation.key);
      return response === undefined ? operation : applyResponse(operation, response, { now, keepsRetrying });
    }),
  };
  return endOrRun(withResponses, input);
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

/** Records that a newer verdict agrees, so the flow continues on it. */
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
