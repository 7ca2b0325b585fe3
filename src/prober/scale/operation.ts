import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import type { ApiError, Result } from '../../kubernetes/api/errors.ts';
import { type ResourceState, isAtLeast, isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import type { DependentResource, ScaleInfo } from '../config/settings.ts';
import {
  type Write,
  effectOf,
  type PatchInput,
  type PatchPlan,
  isSettled,
  narrowScope,
  planPatch,
  unknownManager,
} from './patch-plan.ts';

/** Known state of one dependent resource, without a request to the API server. */
export type Snapshot =
  /** `isAhead`: from a response of the API server that the watch does not show yet. */
  | { readonly kind: 'state'; readonly state: ResourceState; readonly isAhead?: boolean }
  | { readonly kind: 'absent' }
  /** The resource has to be read. `object` is set if the watch shows a version that was not read yet. */
  | { readonly kind: 'unknown'; readonly object?: Pick<ObjectMeta, 'resourceVersion' | 'annotations'> }
  /** The API server does not serve the kind, or not its `scale` subresource. */
  | { readonly kind: 'not-served'; readonly problem: string };

export type OperationOutcome = 'scaled' | 'settled' | 'absent' | 'missing' | 'ignored' | 'released' | 'not-held';

/**
 * Meaning of a missing resource. `absent`: it need not exist. `missing`: a required resource in a scale-up, which is reported and counts as done,
 * because there is nothing to scale up and the others must not stay at 0 for its sake. `failed`: a required resource in a scale-down.
 */
export type IfMissing = 'absent' | 'missing' | 'failed';

type Phase =
  | { readonly kind: 'idle' }
  /** The resource needs scaling, but the verdict is too old. */
  | { readonly kind: 'awaiting-verdict' }
  | { readonly kind: 'deciding' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'writing'; readonly write: Write }
  /** Waits for the initial delay or the back-off after an error. */
  | { readonly kind: 'waiting'; readonly until: number }
  | { readonly kind: 'settling' }
  | { readonly kind: 'done'; readonly outcome: OperationOutcome }
  | { readonly kind: 'failed'; readonly error: Error };

/** The scaling of one resource. Times are monotonic milliseconds. */
export interface Operation {
  readonly key: string;
  readonly resource: DependentResource;
  readonly info: ScaleInfo;
  readonly ifMissing: IfMissing;
  readonly phase: Phase;
  /** Failed attempts so far. */
  readonly attempts: number;
  readonly startedAt: number;
  readonly deadline: number;
  /** Latest state that the API server has returned in this scaling. */
  readonly lastResponse?: ResourceState;
  readonly lastResponseAt: number;
  /** True if the resource is read first: a write may have been lost, a request of the former scaling was in flight, or no watch shows it. */
  readonly mustRead: boolean;
  /** True if a write of ours changed the resource, or may have because its response was lost. */
  readonly mayHaveWritten: boolean;
  /** True if a response has shown that it does not exist: until the watch shows so too, it may show what was before. */
  readonly isGone?: boolean;
  /** When a write of ours last changed the replica count. */
  readonly scaledAt?: number;
}

export type Action =
  | { readonly kind: 'read'; readonly key: string }
  | { readonly kind: 'write'; readonly key: string; readonly write: Write };

/** Response to the one request that an operation has in flight. State `undefined`: the object does not exist. */
export interface ActionResponse {
  readonly key: string;
  readonly result: Result<ResourceState | undefined, ApiError>;
}

/** Attempts after which an operation fails, unless a scale-down keeps retrying. */
export const maxAttempts = 3;
const retryDelayMs = 100;
/** Conflicts in a row after which the next attempt comes at once: an autoscaler that writes several times a second must not starve a scale-down. */
const mostRaces = 50;
/** Time until the next attempt of a request that the rate limit held back, or that is retried beyond its attempts. */
const rateLimitDelayMs = 1_000;
/** The longest `Retry-After` that a scale-down waits for: three writes in half a minute burden nobody, and a minute of waiting costs all nodes. */
const longestThrottledMs = 10_000;
/** Time until the next attempt of what was refused: a right is granted, or an admission webhook recovers. */
export const refusedDelayMs = 3_000;
/** A resource is scaled at most once in this time, in milliseconds: another writer that keeps changing its count gets no race. */
export const paceMs = 1_000;
/** Interval at which a resource is read if no watch shows the awaited change. */
const pollMs = 1_000;

export const idleOperation = (
  resource: DependentResource,
  given: Pick<Operation, 'key' | 'info' | 'ifMissing' | 'mustRead'>,
): Operation => ({
  ...given,
  resource,
  phase: { kind: 'idle' },
  attempts: 0,
  startedAt: 0,
  deadline: 0,
  lastResponseAt: Number.NEGATIVE_INFINITY,
  mayHaveWritten: false,
});

/** Starts an operation, or starts it again once it has failed: with all its attempts, but without its initial delay, which is waited for once. */
export const startOperation = (operation: Operation, now: number): Operation => ({
  ...operation,
  phase: { kind: 'deciding' },
  attempts: 0,
  startedAt: operation.phase.kind === 'idle' ? now : operation.startedAt,
  deadline: now + operation.info.timeoutMs,
});

export const isOver = ({ phase }: Operation): boolean => phase.kind === 'done' || phase.kind === 'failed';

/** True if the resource is at 0 already: it needs no scale-down, and so no initial delay. */
export const isAlreadyAtZero = (operation: Operation, snapshot: Snapshot): boolean =>
  !operation.mayHaveWritten && !operation.mustRead && latestState(operation, snapshot)?.specReplicas === 0;

/** True if the operation is done, has failed, or is retried beyond its attempts. */
export const letsNextLevelStart = (operation: Operation): boolean =>
  isOver(operation) || operation.attempts >= maxAttempts;

interface ResponseContext {
  readonly now: number;
  /** True if the operation retries beyond its attempts until its timeout, because the next run may come too late for KCM's grace period. */
  readonly keepsRetrying: boolean;
  /** True if only what is held is scaled, and no watch shows if the resource is. */
  readonly mayBeForeign: boolean;
}

/** Enters the response to the request in flight. */
export const applyResponse = (
  operation: Operation,
  { result }: ActionResponse,
  context: ResponseContext,
): Operation => {
  const { phase } = operation;
  const { now } = context;
  if (phase.kind !== 'reading' && phase.kind !== 'writing') return operation;
  if (!result.ok) return afterError(operation, result.error, context);
  if (result.value === undefined) return notFound({ ...operation, isGone: true });
  return {
    ...operation,
    phase: { kind: 'deciding' },
    lastResponse: result.value,
    lastResponseAt: now,
    mustRead: false,
    mayHaveWritten: operation.mayHaveWritten || phase.kind === 'writing',
    ...(phase.kind === 'writing' && effectOf(phase.write) !== undefined && { scaledAt: now }),
  };
};

const afterError = (operation: Operation, error: ApiError, context: ResponseContext): Operation => {
  const { now, keepsRetrying, mayBeForeign } = context;
  if (error.code === 'NotFound') return notFound({ ...operation, isGone: true });
  // Nothing shows that it is held, and without the right it could not be restored: it must not keep the others at 0.
  if (error.code === 'Forbidden' && mayBeForeign && operation.lastResponse === undefined) {
    return { ...operation, phase: { kind: 'done', outcome: 'not-held' } };
  }
  if (error.rateLimited) return awaitRateLimit(operation, error, now);
  const { handling } = error;
  // What is refused once is refused again at once.
  const isRefused = handling === 'give-up';
  const attempts = isRefused ? maxAttempts : operation.attempts + 1;
  const isSpent = attempts >= maxAttempts;
  if (isSpent && !(keepsRetrying && now < operation.deadline)) {
    return { ...operation, attempts, phase: { kind: 'failed', error } };
  }
  const longestMs = keepsRetrying ? longestThrottledMs : Number.POSITIVE_INFINITY;
  const wait = handling === 'wait' ? Math.min(error.retryAfterMs ?? 0, longestMs) : 0;
  // A throttled or refused request changed nothing. After any other failure we must read the current state. A conflict is no exception:
  // a lost write that was sent again on the way conflicts with itself.
  const reread = handling !== 'wait' && !isRefused;
  const mayHaveWritten = operation.mayHaveWritten || (reread && operation.phase.kind === 'writing');
  const isRace = keepsRetrying && handling === 'reread' && attempts <= mostRaces;
  const delayMs = isRace ? 0 : isRefused ? refusedDelayMs : isSpent ? rateLimitDelayMs : retryDelayMs;
  return {
    ...operation,
    attempts,
    mayHaveWritten,
    mustRead: operation.mustRead || reread,
    phase: { kind: 'waiting', until: now + Math.max(delayMs, wait) },
  };
};

/** Waits for the rate limit. That is no failed attempt, and nothing was sent, so nothing has to be read again. Only the timeout ends the wait. */
const awaitRateLimit = (operation: Operation, error: ApiError, now: number): Operation => {
  const { deadline } = operation;
  if (now >= deadline) return { ...operation, phase: { kind: 'failed', error } };
  return { ...operation, phase: { kind: 'waiting', until: Math.min(now + rateLimitDelayMs, deadline) } };
};

const notFound = (operation: Operation, problem = 'not found'): Operation =>
  operation.ifMissing === 'failed'
    ? failOperation(operation, problem)
    : { ...operation, phase: { kind: 'done', outcome: operation.ifMissing } };

const failOperation = (operation: Operation, problem: string): Operation => {
  const { kind, name } = operation.resource.ref;
  return { ...operation, phase: { kind: 'failed', error: new Error(`${kind} ${name}: ${problem}`) } };
};

/** Returns the next instant at which the operation may continue without a response or a change of its snapshot. */
export const wakeTime = (operation: Operation, snapshot: Snapshot): number => {
  const { phase, deadline, lastResponseAt } = operation;
  if (phase.kind === 'waiting') return phase.until;
  if (phase.kind !== 'settling') return Number.POSITIVE_INFINITY;
  return isPolled(operation, snapshot) ? Math.min(deadline, lastResponseAt + pollMs) : deadline;
};

/**
 * True if we must poll: the watch does not cover the resource, or does not show the API server's last response yet, or
 * the known state of a custom kind is older than its controller's observation of the change.
 */
const isPolled = (operation: Operation, snapshot: Snapshot): boolean => {
  const { lastResponse, resource } = operation;
  switch (snapshot.kind) {
    case 'absent':
    case 'not-served':
      return true;
    case 'unknown': {
      const { object } = snapshot;
      if (object === undefined) return true;
      if (lastResponse !== undefined && !isAtLeast(object.resourceVersion, lastResponse.resourceVersion)) return true;
      break;
    }
    case 'state':
      if (snapshot.isAhead === true) return true;
  }
  return !isPatchableWorkload(resource.ref) && latestState(operation, snapshot)?.observed === false;
};

/** Returns the newer of the snapshot and the last response of the API server. */
export const latestState = ({ lastResponse }: Operation, snapshot: Snapshot): ResourceState | undefined => {
  if (snapshot.kind !== 'state') return lastResponse;
  if (lastResponse === undefined || isAtLeast(snapshot.state.resourceVersion, lastResponse.resourceVersion)) {
    return snapshot.state;
  }
  return lastResponse;
};

interface Context extends PatchInput {
  readonly now: number;
  readonly snapshot: Snapshot;
  /** True if the verdict is fresh enough to scale. */
  readonly mayScale: boolean;
}

type PlannedWrite = Extract<PatchPlan, { kind: 'write' }>;

interface Stepped {
  readonly operation: Operation;
  readonly action?: Action;
}

/** Advances an operation as far as possible at `context.now`. Returns at most one request. */
export const stepOperation = (operation: Operation, context: Context): Stepped => {
  const { phase } = operation;
  switch (phase.kind) {
    case 'waiting':
      return context.now < phase.until ? { operation } : decide({ ...operation, phase: { kind: 'deciding' } }, context);
    case 'awaiting-verdict':
      // The wait for a verdict does not count: the resource's timeout starts after it.
      return decide({ ...operation, deadline: context.now + operation.info.timeoutMs }, context);
    case 'deciding':
    case 'settling':
      return decide(operation, context);
    case 'done':
      return recheck(operation, context);
    case 'idle':
    case 'reading':
    case 'writing':
    case 'failed':
      return { operation };
  }
};

/**
 * Acts on a finished operation whose resource has to be scaled again, because somebody changed it, or created it, if it is optional. A scale-down repeats it. A
 * scale-up ends, because later levels must not start before it, and the next run decides: a standby that saw an outage, but not yet its end, scaled the
 * resource down again, or an operator removed ignore-scaling from a resource at 0.
 */
const recheck = (operation: Operation, context: Context): Stepped => {
  const { phase } = operation;
  if (phase.kind === 'done' && (phase.outcome === 'absent' || phase.outcome === 'missing')) {
    const isAbsent = context.snapshot.kind === 'absent';
    const isGone = operation.isGone === true && !isAbsent;
    if (context.direction !== 'down' || isAbsent || isGone) return { operation: { ...operation, isGone } };
  }
  const needed = neededBy(operation, context);
  if (needed === undefined) return { operation };
  if (needed === 'read') return read(operation);
  if (context.direction === 'down' || !needed.scaling) {
    return write({ ...operation, deadline: context.now + operation.info.timeoutMs }, needed, context);
  }
  return {
    operation: failOperation(operation, 'it was scaled down again during the scale-up; the next run starts it again'),
  };
};

/** Returns what a resource needs that should be at rest, as far as it is known: a read, a write, or nothing. */
export const neededBy = (
  operation: Operation,
  context: PatchInput & Pick<Context, 'snapshot'>,
): 'read' | PlannedWrite | undefined => {
  if (isUnread(operation, context.snapshot)) return 'read';
  const state = latestState(operation, context.snapshot);
  const plan = state && planNext(operation, state, context);
  return plan?.kind === 'write' ? plan : undefined;
};

const decide = (operation: Operation, context: Context): Stepped => {
  const { snapshot } = context;
  if (operation.mustRead && snapshot.kind !== 'not-served') return read(operation);
  const state = latestState(operation, snapshot);
  if (state === undefined) {
    if (snapshot.kind === 'unknown') return read(operation);
    return { operation: notFound(operation, snapshot.kind === 'not-served' ? snapshot.problem : undefined) };
  }
  if (operation.phase.kind === 'settling' && needsReading(operation, context)) return read(operation);
  const plan = planNext(operation, state, context);
  switch (plan.kind) {
    case 'done':
      return { operation: { ...operation, phase: { kind: 'done', outcome: plan.outcome } } };
    case 'settle':
      return { operation: settle(operation, state, context) };
    case 'write':
      return write(operation, plan, context);
  }
};

/** Plans the next patch of a resource. One that we scaled up is awaited although it is no longer held. */
const planNext = ({ mayHaveWritten, resource }: Operation, state: ResourceState, context: PatchInput): PatchPlan => {
  const scope = mayHaveWritten && state.specReplicas > 0 ? 'all' : narrowScope(context.scope, resource);
  return planPatch(resource, state, { ...context, scope });
};

const read = (operation: Operation): Stepped => ({
  operation: { ...operation, phase: { kind: 'reading' } },
  action: { kind: 'read', key: operation.key },
});

const write = (operation: Operation, plan: PlannedWrite, { now, mayScale, direction }: Context): Stepped => {
  const delayedUntil = operation.startedAt + operation.info.initialDelayMs;
  if (plan.scaling && now < delayedUntil) {
    const deadline = delayedUntil + operation.info.timeoutMs;
    return {
      operation: {
        ...operation,
        deadline,
        phase: { kind: 'waiting', until: delayedUntil },
      },
    };
  }
  if (plan.scaling && !mayScale) return { operation: { ...operation, phase: { kind: 'awaiting-verdict' } } };
  // Set if another writer has changed our count since.
  const contestedSince = effectOf(plan.write) === undefined ? undefined : operation.scaledAt;
  if (contestedSince !== undefined && now < contestedSince + paceMs) {
    return { operation: { ...operation, phase: { kind: 'waiting', until: contestedSince + paceMs } } };
  }
  const attempts = contestedSince === undefined ? operation.attempts : operation.attempts + 1;
  if (attempts >= maxAttempts && contestedSince !== undefined && direction === 'up') {
    const { undoes = unknownManager } = plan.write;
    const writer = undoes === unknownManager ? 'another writer' : undoes;
    return { operation: failOperation(operation, `${writer} keeps changing its replicas`) };
  }
  return {
    operation: { ...operation, attempts, phase: { kind: 'writing', write: plan.write } },
    action: { kind: 'write', key: operation.key, write: plan.write },
  };
};

const settle = (operation: Operation, state: ResourceState, { direction, now }: Context): Operation => {
  if (isSettled(state, direction)) {
    return { ...operation, phase: { kind: 'done', outcome: operation.scaledAt !== undefined ? 'scaled' : 'settled' } };
  }
  if (now >= operation.deadline) {
    const seconds = String(operation.info.timeoutMs / 1_000);
    return failOperation(operation, `not finished within its timeout of ${seconds}s`);
  }
  return { ...operation, phase: { kind: 'settling' } };
};

/** True if the watch shows a version whose count must be read. */
const isUnread = ({ lastResponse }: Operation, snapshot: Snapshot): boolean => {
  const shown = snapshot.kind === 'unknown' ? snapshot.object?.resourceVersion : undefined;
  const known = lastResponse?.resourceVersion;
  return shown !== undefined && shown !== known && (known === undefined || isAtLeast(shown, known));
};

const needsReading = (operation: Operation, { snapshot, now }: Context): boolean =>
  isUnread(operation, snapshot) || (isPolled(operation, snapshot) && now >= operation.lastResponseAt + pollMs);
