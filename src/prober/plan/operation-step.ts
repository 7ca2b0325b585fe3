import { type ResourceState, isAtLeast } from '../../kubernetes/api/scalable.ts';
import { ignoresScaling, hasMark } from '../../annotations/scaling-annotations.ts';
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
      return { operation: failReverted(operation, context) };
    case 'idle':
    case 'reading':
    case 'writing':
    case 'failed':
      return { operation };
  }
};

const duringScaleUp = 'during the scale-up; the next run starts it again';

/**
 * Fails a finished operation of a scale-up whose resource is at 0 again, because later levels must not start before it: an operator removed ignore-scaling
 * from a resource at 0, or a standby that saw an outage, but not yet its end, scaled the resource down again.
 */
const failReverted = (operation: Operation, { direction, snapshot }: Context): Operation => {
  const { phase } = operation;
  const state = latestState(operation, snapshot);
  const isDownAgain = state?.specReplicas === 0 && !ignoresScaling(state);
  if (direction !== 'up' || phase.kind !== 'done' || !isDownAgain) return operation;
  if (phase.outcome === 'ignored') return failOperation(operation, `ignore-scaling was removed ${duringScaleUp}`);
  const wasUp = phase.outcome === 'scaled' || phase.outcome === 'settled' || phase.outcome === 'not-held';
  return wasUp && hasMark(state) ? failOperation(operation, `it was scaled down again ${duringScaleUp}`) : operation;
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
  { now, mayScale }: Context,
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
  // True if another writer changed our count while we waited for the pods to follow.
  const isContested = operation.hasScaled && effectOf(plan.write) !== undefined;
  const attempts = isContested ? operation.attempts + 1 : operation.attempts;
  if (isContested && attempts >= maxAttempts) {
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
    return { ...operation, phase: { kind: 'done', outcome: operation.hasScaled ? 'scaled' : 'settled' } };
  }
  if (now >= operation.deadline) {
    const seconds = String(operation.info.timeoutMs / 1_000);
    return failOperation(operation, `not finished within its timeout of ${seconds}s`);
  }
  return { ...operation, phase: { kind: 'settling' } };
};

const needsReading = (operation: Operation, state: ResourceState, { snapshot, now }: Context): boolean => {
  const unread = snapshot.kind === 'unknown' ? snapshot.resourceVersion : undefined;
  if (unread !== undefined && unread !== state.resourceVersion && isAtLeast(unread, state.resourceVersion)) return true;
  return isPolled(operation, snapshot) && now >= operation.lastResponseAt + pollMs;
};
