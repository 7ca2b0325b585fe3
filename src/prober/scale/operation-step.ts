import { type ResourceState, isAtLeast } from '../../kubernetes/api/scalable.ts';
import {
  type Direction,
  type PatchInput,
  type PatchPlan,
  type ScalingScope,
  effectOf,
  isSettled,
  narrowScope,
  planPatch,
  unknownManager,
} from './patch-plan.ts';
import {
  type Action,
  type Operation,
  type Snapshot,
  failOperation,
  isPolled,
  latestState,
  maxAttempts,
  notFound,
  paceMs,
  pollMs,
} from './operation.ts';

interface Context {
  readonly direction: Direction;
  readonly scope: ScalingScope;
  readonly now: number;
  readonly snapshot: Snapshot;
  /** See `PatchInput.note`. */
  readonly note: string | undefined;
  readonly withoutLead: PatchInput['withoutLead'];
  /** True if the verdict is fresh enough to scale. */
  readonly mayScale: boolean;
}

interface Stepped {
  readonly operation: Operation;
  readonly action?: Action;
}

/** Advances an operation as far as possible at `context.now`. Returns at most one request. */
export const stepOperation = (operation: Operation, context: Context): Stepped => {
  const { phase } = operation;
  if (operation.awaitsFormer) return { operation };
  switch (phase.kind) {
    case 'waiting':
      return context.now < phase.until
        ? { operation }
        : decide({ ...operation, phase: { kind: 'deciding' }, mustRead: operation.mustRead || phase.reread }, context);
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
 * Acts on a finished operation whose resource has to be scaled again, because somebody changed it. A scale-down repeats it. A scale-up ends, because later
 * levels must not start before it, and the next run decides: a standby that saw an outage, but not yet its end, scaled the resource down again, or an operator
 * removed ignore-scaling from a resource at 0.
 */
const recheck = (operation: Operation, context: Context): Stepped => {
  const { phase } = operation;
  // A watch may still show a resource that a response has shown to be gone.
  if (phase.kind === 'done' && (phase.outcome === 'absent' || phase.outcome === 'missing')) return { operation };
  const state = latestState(operation, context.snapshot);
  const plan = state && planPatch(operation.resource, state, { ...context, scope: scopeOf(operation, state, context) });
  if (plan?.kind !== 'write' || !plan.scaling) return { operation };
  if (context.direction === 'down') {
    return write({ ...operation, deadline: context.now + operation.info.timeoutMs }, plan, context);
  }
  return {
    operation: failOperation(operation, 'it was scaled down again during the scale-up; the next run starts it again'),
  };
};

const decide = (operation: Operation, context: Context): Stepped => {
  const { snapshot } = context;
  if (operation.mustRead && snapshot.kind !== 'not-served') return read(operation);
  const state = latestState(operation, snapshot);
  if (state === undefined) {
    if (snapshot.kind === 'unknown') return read(operation);
    return { operation: notFound(operation, snapshot.kind === 'not-served' ? snapshot.problem : undefined) };
  }
  if (operation.phase.kind === 'settling' && needsReading(operation, state, context)) return read(operation);
  const plan = planPatch(operation.resource, state, { ...context, scope: scopeOf(operation, state, context) });
  switch (plan.kind) {
    case 'done':
      return { operation: { ...operation, phase: { kind: 'done', outcome: plan.outcome } } };
    case 'settle':
      return { operation: settle(operation, state, context) };
    case 'write':
      return write(operation, plan, context);
  }
};

/** Returns the scope of one operation. A resource that we scaled up is awaited although we removed its mark. */
const scopeOf = (
  { mayHaveWritten, resource }: Operation,
  { specReplicas }: ResourceState,
  { scope }: Context,
): ScalingScope => (mayHaveWritten && specReplicas > 0 ? 'all' : narrowScope(scope, resource));

const read = (operation: Operation): Stepped => ({
  operation: { ...operation, phase: { kind: 'reading' } },
  action: { kind: 'read', key: operation.key },
});

const write = (
  operation: Operation,
  plan: Extract<PatchPlan, { kind: 'write' }>,
  { now, mayScale, direction }: Context,
): Stepped => {
  const delayedUntil = operation.startedAt + operation.info.initialDelayMs;
  if (plan.scaling && !operation.initialDelayDone && now < delayedUntil) {
    const deadline = delayedUntil + operation.info.timeoutMs;
    return {
      operation: {
        ...operation,
        initialDelayDone: true,
        deadline,
        phase: { kind: 'waiting', until: delayedUntil, reread: false },
      },
    };
  }
  if (plan.scaling && !mayScale) return { operation: { ...operation, phase: { kind: 'awaiting-verdict' } } };
  // Set if another writer has changed our count since.
  const contestedSince = effectOf(plan.write) === undefined ? undefined : operation.scaledAt;
  if (contestedSince !== undefined && now < contestedSince + paceMs) {
    return { operation: { ...operation, phase: { kind: 'waiting', until: contestedSince + paceMs, reread: false } } };
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

const needsReading = (operation: Operation, state: ResourceState, { snapshot, now }: Context): boolean => {
  const unread = snapshot.kind === 'unknown' ? snapshot.object?.resourceVersion : undefined;
  if (unread !== undefined && unread !== state.resourceVersion && isAtLeast(unread, state.resourceVersion)) return true;
  return isPolled(operation, snapshot) && now >= operation.lastResponseAt + pollMs;
};
