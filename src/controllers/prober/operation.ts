import {
  type ApiError,
  type DependentResource,
  type ResourceState,
  type Result,
  isAtLeast,
} from '../../domain/index.ts';
import type { ScaleInfo } from '../../domain/index.ts';
import { type Direction, type Move, type Scope, type Write, isSettled, nextMove } from './moves.ts';

/** What a shoot's loop knows of one dependent resource without asking the API server. */
export type Snapshot =
  | { readonly kind: 'state'; readonly state: ResourceState }
  | { readonly kind: 'absent' }
  /** Has to be read; `resourceVersion` when the watch shows one that was not read yet. */
  | { readonly kind: 'unknown'; readonly resourceVersion?: string }
  /** The API server does not serve the kind, or not its `scale` subresource. */
  | { readonly kind: 'not-served'; readonly problem: string };

export type OperationOutcome = 'scaled' | 'settled' | 'absent' | 'ignored' | 'released' | 'not-held';

type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'delayed'; readonly until: number }
  | { readonly kind: 'deciding' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'writing'; readonly write: Write }
  | { readonly kind: 'backing-off'; readonly until: number; readonly reread: boolean }
  | { readonly kind: 'settling' }
  | { readonly kind: 'done'; readonly outcome: OperationOutcome }
  | { readonly kind: 'failed'; readonly error: Error };

/** The scaling of one resource within a flow. Times are monotonic milliseconds. */
export interface Operation {
  readonly key: string;
  readonly resource: DependentResource;
  readonly info: ScaleInfo;
  readonly phase: Phase;
  /** Failed tries so far, of `maxTries`. */
  readonly tries: number;
  readonly startedAt: number;
  readonly delayServed: boolean;
  readonly deadline: number;
  /** Latest state that the API server itself told us in this flow. */
  readonly told?: ResourceState;
  readonly toldAt: number;
  readonly mustRead: boolean;
  readonly wroteCount: boolean;
}

export type Action =
  | { readonly kind: 'read'; readonly key: string }
  | { readonly kind: 'write'; readonly key: string; readonly write: Write };

/** Answer to the one request an operation has in flight; `undefined` state: there is no such object. */
export interface Outcome {
  readonly key: string;
  readonly result: Result<ResourceState | undefined, ApiError>;
}

const maxTries = 3;
const retryDelayMs = 100;
/** How often a resource is read that no watch shows. */
const pollMs = 1_000;

interface Context {
  readonly direction: Direction;
  readonly scope: Scope;
  readonly now: number;
  readonly snapshot: Snapshot;
}

export const idleOperation = (
  resource: DependentResource,
  { key, info, mustRead }: { readonly key: string; readonly info: ScaleInfo; readonly mustRead: boolean },
): Operation => ({
  key,
  resource,
  info,
  mustRead,
  phase: { kind: 'idle' },
  tries: 0,
  startedAt: 0,
  delayServed: false,
  deadline: 0,
  toldAt: Number.NEGATIVE_INFINITY,
  wroteCount: false,
});

export const startOperation = (operation: Operation, now: number): Operation => ({
  ...operation,
  phase: { kind: 'deciding' },
  startedAt: now,
  deadline: now + operation.info.timeoutMs,
});

export const isOver = ({ phase }: Operation): boolean => phase.kind === 'done' || phase.kind === 'failed';

/** Takes in the answer to the request in flight. */
export const settleOutcome = (operation: Operation, { result }: Outcome, now: number): Operation => {
  const { phase } = operation;
  if (phase.kind !== 'reading' && phase.kind !== 'writing') return operation;
  if (!result.ok) return afterError(operation, result.error, now);
  if (result.value === undefined) return notFound(operation);
  return {
    ...operation,
    phase: { kind: 'deciding' },
    told: result.value,
    toldAt: now,
    mustRead: false,
    wroteCount: operation.wroteCount || (phase.kind === 'writing' && phase.write.replicas !== undefined),
  };
};

const afterError = (operation: Operation, error: ApiError, now: number): Operation => {
  if (error.code === 'NotFound') return notFound(operation);
  const tries = operation.tries + 1;
  if (error.handling === 'give-up' || tries >= maxTries) {
    return { ...operation, tries, phase: { kind: 'failed', error } };
  }
  const wait = error.handling === 'wait' ? (error.retryAfterMs ?? 0) : 0;
  // A refused request (429) changed nothing; after any other failure the server has to say what is so now.
  const reread = error.handling !== 'wait';
  return { ...operation, tries, phase: { kind: 'backing-off', until: now + Math.max(retryDelayMs, wait), reread } };
};

const notFound = (operation: Operation): Operation =>
  operation.resource.optional
    ? { ...operation, phase: { kind: 'done', outcome: 'absent' } }
    : fail(operation, 'not found');

const fail = (operation: Operation, problem: string): Operation => {
  const { kind, name } = operation.resource.ref;
  return { ...operation, phase: { kind: 'failed', error: new Error(`${kind} ${name}: ${problem}`) } };
};

/** The next instant at which the operation may go on without an answer or a change of its snapshot. */
export const wakeTime = (operation: Operation, snapshot: Snapshot): number => {
  const { phase } = operation;
  switch (phase.kind) {
    case 'delayed':
    case 'backing-off':
      return phase.until;
    case 'settling':
      return isUnwatched(snapshot) ? Math.min(operation.deadline, operation.toldAt + pollMs) : operation.deadline;
    case 'idle':
    case 'deciding':
    case 'reading':
    case 'writing':
    case 'done':
    case 'failed':
      return Number.POSITIVE_INFINITY;
  }
};

const isUnwatched = (snapshot: Snapshot): boolean =>
  snapshot.kind === 'unknown' && snapshot.resourceVersion === undefined;

/** Moves an operation as far as it goes at `context.now`; at most one request comes out of it. */
export const stepOperation = (
  operation: Operation,
  context: Context,
): { readonly operation: Operation; readonly action?: Action } => {
  const { phase } = operation;
  switch (phase.kind) {
    case 'delayed':
      return context.now < phase.until ? { operation } : decide({ ...operation, phase: { kind: 'deciding' } }, context);
    case 'backing-off':
      return context.now < phase.until
        ? { operation }
        : decide({ ...operation, phase: { kind: 'deciding' }, mustRead: operation.mustRead || phase.reread }, context);
    case 'deciding':
    case 'settling':
      return decide(operation, context);
    case 'idle':
    case 'reading':
    case 'writing':
    case 'done':
    case 'failed':
      return { operation };
  }
};

const decide = (operation: Operation, context: Context): { operation: Operation; action?: Action } => {
  const { snapshot, now } = context;
  if (operation.mustRead && snapshot.kind !== 'not-served') return read(operation);
  const state = latestState(operation, snapshot);
  if (state === undefined) {
    if (snapshot.kind === 'unknown') return read(operation);
    if (snapshot.kind === 'not-served' && !operation.resource.optional) {
      return { operation: fail(operation, snapshot.problem) };
    }
    return { operation: notFound(operation) };
  }
  if (operation.phase.kind === 'settling' && needsReading(operation, state, context)) return read(operation);
  const move = nextMove(operation.resource, state, scopeOf(operation, context));
  switch (move.kind) {
    case 'done':
      return { operation: { ...operation, phase: { kind: 'done', outcome: move.outcome } } };
    case 'settle':
      return { operation: settle(operation, state, context) };
    case 'write':
      return write(operation, move, now);
  }
};

/** Once we have written, the mark we took away is no reason to leave the resource alone. */
const scopeOf = (operation: Operation, { direction, scope }: Context): { direction: Direction; scope: Scope } => ({
  direction,
  scope: operation.wroteCount ? 'all' : scope,
});

const read = (operation: Operation): { operation: Operation; action: Action } => ({
  operation: { ...operation, phase: { kind: 'reading' } },
  action: { kind: 'read', key: operation.key },
});

const write = (
  operation: Operation,
  move: Extract<Move, { kind: 'write' }>,
  now: number,
): { operation: Operation; action?: Action } => {
  const delayedUntil = operation.startedAt + operation.info.initialDelayMs;
  if (move.scaling && !operation.delayServed && now < delayedUntil) {
    const deadline = delayedUntil + operation.info.timeoutMs;
    return {
      operation: { ...operation, delayServed: true, deadline, phase: { kind: 'delayed', until: delayedUntil } },
    };
  }
  // Somebody took our write back while we waited for the pods to follow.
  const tries = move.scaling && operation.phase.kind === 'settling' ? operation.tries + 1 : operation.tries;
  if (tries >= maxTries) return { operation: fail(operation, 'another writer keeps changing its replicas') };
  return {
    operation: { ...operation, tries, phase: { kind: 'writing', write: move.write } },
    action: { kind: 'write', key: operation.key, write: move.write },
  };
};

const settle = (operation: Operation, state: ResourceState, { direction, now }: Context): Operation => {
  if (isSettled(state, direction)) {
    return { ...operation, phase: { kind: 'done', outcome: operation.wroteCount ? 'scaled' : 'settled' } };
  }
  if (now >= operation.deadline) return fail(operation, timedOut(operation));
  return { ...operation, phase: { kind: 'settling' } };
};

const timedOut = ({ info }: Operation): string =>
  `not finished within its timeout of ${String(info.timeoutMs / 1_000)}s`;

/** The watch may lag behind what the API server told us, or be ahead of it. */
const latestState = ({ told }: Operation, snapshot: Snapshot): ResourceState | undefined => {
  if (snapshot.kind !== 'state') return told;
  if (told === undefined || isAtLeast(snapshot.state.resourceVersion, told.resourceVersion)) return snapshot.state;
  return told;
};

const needsReading = (operation: Operation, state: ResourceState, { snapshot, now }: Context): boolean => {
  if (snapshot.kind !== 'unknown') return false;
  if (snapshot.resourceVersion === undefined) return now >= operation.toldAt + pollMs;
  return (
    snapshot.resourceVersion !== state.resourceVersion && isAtLeast(snapshot.resourceVersion, state.resourceVersion)
  );
};
