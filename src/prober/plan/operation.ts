import type { ApiError, Result } from '../../kubernetes/api/errors.ts';
import { type ResourceState, isAtLeast, scalesInOneWrite } from '../../kubernetes/api/scalable.ts';
import type { DependentResource, ScaleInfo } from '../settings.ts';
import { type Write, effectOf } from './patch-plan.ts';

/** What a shoot's loop knows of one dependent resource without asking the API server. */
export type Snapshot =
  /** `isAhead`: from an answer of the API server that the watch does not show yet. */
  | { readonly kind: 'state'; readonly state: ResourceState; readonly isAhead?: boolean }
  | { readonly kind: 'absent' }
  /** Has to be read; `resourceVersion` when the watch shows one that was not read yet. */
  | { readonly kind: 'unknown'; readonly resourceVersion?: string }
  /** The API server does not serve the kind, or not its `scale` subresource. */
  | { readonly kind: 'not-served'; readonly problem: string };

export type OperationOutcome = 'scaled' | 'settled' | 'absent' | 'missing' | 'ignored' | 'released' | 'not-held';

/**
 * What it means that there is no such resource: nothing where it is optional (`absent`); on the way up a required one is reported and done with
 * (`missing`), because there is nothing to bring up and the others must not stay at 0 for its sake; on the way down it is a failure.
 */
export type IfMissing = 'absent' | 'missing' | 'failed';

type Phase =
  | { readonly kind: 'idle' }
  /** Has something to scale, on a verdict that is too old for it. */
  | { readonly kind: 'awaiting-verdict' }
  | { readonly kind: 'deciding' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'writing'; readonly write: Write }
  /** Serves its initial delay, or backs off after an error; `reread`: then reads the resource first. */
  | { readonly kind: 'waiting'; readonly until: number; readonly reread: boolean }
  | { readonly kind: 'settling' }
  | { readonly kind: 'done'; readonly outcome: OperationOutcome }
  | { readonly kind: 'failed'; readonly error: Error };

/** The scaling of one resource within a flow. Times are monotonic milliseconds. */
export interface Operation {
  readonly key: string;
  readonly resource: DependentResource;
  readonly info: ScaleInfo;
  readonly ifMissing: IfMissing;
  readonly phase: Phase;
  /** Failed attempts so far. */
  readonly attempts: number;
  readonly startedAt: number;
  readonly delayServed: boolean;
  readonly deadline: number;
  /** Latest state that the API server itself has answered in this flow. */
  readonly lastResponse?: ResourceState;
  readonly lastResponseAt: number;
  readonly mustRead: boolean;
  /** A write of ours changed the resource, or may have: its answer was lost. */
  readonly mayHaveWritten: boolean;
  /** A write of ours changed its count, or the annotation that stands for it. */
  readonly wroteCount: boolean;
}

export type Action =
  | { readonly kind: 'read'; readonly key: string }
  | { readonly kind: 'write'; readonly key: string; readonly write: Write };

/** Answer to the one request an operation has in flight; `undefined` state: there is no such object. */
export interface StepAnswer {
  readonly key: string;
  readonly result: Result<ResourceState | undefined, ApiError>;
}

/** After these an operation has failed, unless it goes on in a scale-down. */
export const maxAttempts = 3;
const retryDelayMs = 100;
/** Until the next attempt of a request that the rate limit held back, or that goes on after its last attempt. */
const turnDelayMs = 1_000;
/** How often a resource is read of which no watch can tell what is waited for. */
export const pollMs = 1_000;

export const idleOperation = (
  resource: DependentResource,
  given: Pick<Operation, 'key' | 'info' | 'ifMissing' | 'mustRead'>,
): Operation => ({
  ...given,
  resource,
  phase: { kind: 'idle' },
  attempts: 0,
  startedAt: 0,
  delayServed: false,
  deadline: 0,
  lastResponseAt: Number.NEGATIVE_INFINITY,
  mayHaveWritten: false,
  wroteCount: false,
});

export const startOperation = (operation: Operation, now: number): Operation => ({
  ...operation,
  phase: { kind: 'deciding' },
  startedAt: now,
  deadline: now + operation.info.timeoutMs,
});

export const isOver = ({ phase }: Operation): boolean => phase.kind === 'done' || phase.kind === 'failed';

/** Found at 0: nothing to scale down, and so no delay to serve. */
export const isFoundDown = (operation: Operation, snapshot: Snapshot): boolean =>
  !operation.delayServed &&
  !operation.mayHaveWritten &&
  !operation.mustRead &&
  latestState(operation, snapshot)?.specReplicas === 0;

/** Done, failed, or out of attempts and tried again all the same. */
export const holdsUpNoLevel = (operation: Operation): boolean => isOver(operation) || operation.attempts >= maxAttempts;

interface Answering {
  readonly now: number;
  /** Goes on beyond its attempts, until its time-out: the next run may be too late for KCM's grace. */
  readonly keepsRetrying: boolean;
}

/** Takes in the answer to the request in flight. */
export const takeAnswer = (operation: Operation, { result }: StepAnswer, answering: Answering): Operation => {
  const { phase } = operation;
  const { now } = answering;
  if (phase.kind !== 'reading' && phase.kind !== 'writing') return operation;
  if (!result.ok) return afterError(operation, result.error, answering);
  if (result.value === undefined) return notFound(operation);
  return {
    ...operation,
    phase: { kind: 'deciding' },
    lastResponse: result.value,
    lastResponseAt: now,
    mustRead: false,
    mayHaveWritten: operation.mayHaveWritten || phase.kind === 'writing',
    wroteCount: operation.wroteCount || (phase.kind === 'writing' && effectOf(phase.write) !== undefined),
  };
};

const afterError = (operation: Operation, error: ApiError, { now, keepsRetrying }: Answering): Operation => {
  if (error.code === 'NotFound') return notFound(operation);
  if (error.heldBack) return awaitTurn(operation, error, now);
  const { handling } = error;
  const attempts = operation.attempts + 1;
  const isSpent = attempts >= maxAttempts;
  if (handling === 'give-up' || (isSpent && !(keepsRetrying && now < operation.deadline))) {
    return { ...operation, attempts, phase: { kind: 'failed', error } };
  }
  const wait = handling === 'wait' ? (error.retryAfterMs ?? 0) : 0;
  // A refused request (429) changed nothing; after any other failure the server has to say what is so now. A conflict is no exception:
  // when a lost write was sent again on the way, it met what it had done itself.
  const reread = handling !== 'wait';
  const mayHaveWritten = operation.mayHaveWritten || (reread && operation.phase.kind === 'writing');
  const until = now + Math.max(isSpent ? turnDelayMs : retryDelayMs, wait);
  return { ...operation, attempts, mayHaveWritten, phase: { kind: 'waiting', until, reread } };
};

/** Waiting for one's turn is no failed try, and nothing was sent that would have to be looked for; only the time-out ends it. */
const awaitTurn = (operation: Operation, error: ApiError, now: number): Operation => {
  const { deadline } = operation;
  if (now >= deadline) return { ...operation, phase: { kind: 'failed', error } };
  return { ...operation, phase: { kind: 'waiting', until: Math.min(now + turnDelayMs, deadline), reread: false } };
};

export const notFound = (operation: Operation, problem = 'not found'): Operation =>
  operation.ifMissing === 'failed'
    ? failOperation(operation, problem)
    : { ...operation, phase: { kind: 'done', outcome: operation.ifMissing } };

export const failOperation = (operation: Operation, problem: string): Operation => {
  const { kind, name } = operation.resource.ref;
  return { ...operation, phase: { kind: 'failed', error: new Error(`${kind} ${name}: ${problem}`) } };
};

/** The next instant at which the operation may go on without an answer or a change of its snapshot. */
export const wakeTime = (operation: Operation, snapshot: Snapshot): number => {
  const { phase } = operation;
  switch (phase.kind) {
    case 'waiting':
      return phase.until;
    case 'settling':
      return isPolled(operation, snapshot)
        ? Math.min(operation.deadline, operation.lastResponseAt + pollMs)
        : operation.deadline;
    case 'idle':
    case 'awaiting-verdict':
    case 'deciding':
    case 'reading':
    case 'writing':
    case 'done':
    case 'failed':
      return Number.POSITIVE_INFINITY;
  }
};

/**
 * True if we must poll: the watch does not cover the resource, or does not show yet what the API server has answered, or
 * what is known of a custom kind is from before its controller saw the change.
 */
export const isPolled = (operation: Operation, snapshot: Snapshot): boolean => {
  const { lastResponse, resource } = operation;
  switch (snapshot.kind) {
    case 'absent':
    case 'not-served':
      return true;
    case 'unknown': {
      const { resourceVersion } = snapshot;
      if (resourceVersion === undefined) return true;
      if (lastResponse !== undefined && !isAtLeast(resourceVersion, lastResponse.resourceVersion)) return true;
      break;
    }
    case 'state':
      if (snapshot.isAhead === true) return true;
  }
  return !scalesInOneWrite(resource.ref) && latestState(operation, snapshot)?.observed === false;
};

/** The snapshot may be older or newer than the last answer of the API server. */
export const latestState = ({ lastResponse }: Operation, snapshot: Snapshot): ResourceState | undefined => {
  if (snapshot.kind !== 'state') return lastResponse;
  if (lastResponse === undefined || isAtLeast(snapshot.state.resourceVersion, lastResponse.resourceVersion)) {
    return snapshot.state;
  }
  return lastResponse;
};
