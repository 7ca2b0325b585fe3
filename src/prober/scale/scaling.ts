import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type HeldAnnotation, formatHeldAnnotation } from '../../annotations/held.ts';
import type { DependentResource, ScaleInfo } from '../config/settings.ts';
import type { DesiredScaling } from './desired.ts';
import {
  stepOperation,
  type Action,
  type ActionResponse,
  type IfMissing,
  type Operation,
  type Snapshot,
  applyResponse,
  idleOperation,
  isAlreadyAtZero,
  isOver,
  letsNextLevelStart,
  neededBy,
  paceMs,
  refusedDelayMs,
  startOperation,
  wakeTime,
} from './operation.ts';
import type { Direction, PatchInput } from './patch-plan.ts';
import { annotatedIn, isHeldIn } from './snapshots.ts';

/** The scaling towards what is desired: one operation for each resource, level by level. Instants are monotonic milliseconds. */
export interface Scaling extends Pick<DesiredScaling, 'direction' | 'scope' | 'reason'> {
  /** Why this process scales down although it is not the leader. Absent if it leads. */
  readonly withoutLead?: string | undefined;
  readonly startedAt: number;
  /** One for each resource; idle until its level starts. */
  readonly operations: readonly Operation[];
  /** Set when no operation has anything left to do. It begins anew if a resource, or a later verdict, asks for it. */
  readonly rest?: Rest;
}

interface Rest {
  readonly since: number;
  readonly end: 'completed' | 'failed';
}

/** Returns when a scaling at rest may begin anew. What has failed is tried again with the next verdict, or later. */
export const restsUntil = ({ since, end }: Rest, isTried = false): number =>
  since + (isTried && end === 'failed' ? refusedDelayMs : paceMs);

/** What a scaling needs to know of the resources. */
export interface ScalingContext {
  readonly now: number;
  /** The same instant in milliseconds since the epoch. */
  readonly wallNow: number;
  /** Who holds which cluster's resources, for the annotation of those that are scaled down. */
  readonly holder: Pick<HeldAnnotation, 'by' | 'cluster' | 'with'>;
  readonly resources: readonly DependentResource[];
  readonly snapshotOf: (key: string) => Snapshot;
  /** Keys of the resources that have a request in flight: at most one each. That of a former scaling is awaited, and then the resource is read. */
  readonly inFlight: ReadonlySet<string>;
  /** True while a watch is interrupted: it may show what is long past, such as a resource that was ready before the outage, so each is read first. */
  readonly mustRead: boolean;
}

/** The data that a step of a scaling needs besides the scaling. */
export interface ScalingInput extends ScalingContext {
  readonly responses: readonly ActionResponse[];
  /** False if what is under way only waits: see `Permission`. */
  readonly mayScale: boolean;
  /** True if resources that cannot be scaled down are tried again until their timeout, because the verdict is recent. */
  readonly keepsRetrying: boolean;
}

/** A release needs no order and no delay: it only removes annotations. */
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

const meaningOfMissing = ({ optional }: DependentResource, { direction, scope }: DesiredScaling): IfMissing => {
  // A missing resource is not held.
  if (optional || scope === 'held') return 'absent';
  return direction === 'down' ? 'failed' : 'missing';
};

/** True while a resource that is no longer configured may be at 0: a process that starts finds it only by the annotations `held` of the others. */
const keepsNotes = ({ resources, snapshotOf }: ScalingContext): boolean =>
  resources.some(({ ref, restoreOnly }) => {
    const snapshot = restoreOnly === true ? snapshotOf(refKey(ref)) : undefined;
    return snapshot !== undefined && (snapshot.kind === 'unknown' || isHeldIn(snapshot));
  });

/** Creates a scaling of which no level has started. */
export const createScaling = (
  desired: DesiredScaling,
  { now, resources, inFlight, mustRead }: Pick<ScalingContext, 'now' | 'resources' | 'inFlight' | 'mustRead'>,
  withoutLead?: string,
): Scaling => {
  const { direction, scope, reason } = desired;
  const operations = resources.flatMap((resource) => {
    const info = scaleInfo(resource, direction);
    if (info === undefined) return [];
    const key = refKey(resource.ref);
    const ifMissing = meaningOfMissing(resource, desired);
    return [idleOperation(resource, { key, info, ifMissing, mustRead: mustRead || inFlight.has(key) })];
  });
  return { direction, scope, reason, withoutLead, startedAt: now, operations };
};

const patchInput = ({ direction, scope, withoutLead }: Scaling, input: ScalingContext): PatchInput => ({
  direction,
  scope,
  withoutLead,
  keepsNote: keepsNotes(input),
});

/**
 * True if a scaling of which no level has started would write or read, await a request of the former one, or fail because a resource is missing. To wait for
 * resources that have reached their target changes nothing. If its verdict `isTried` already, only what the watches show counts.
 */
export const hasWork = (scaling: Scaling, input: ScalingContext, isTried = false): boolean => {
  const context = patchInput(scaling, input);
  return scaling.operations.some((operation) => {
    const snapshot = input.snapshotOf(operation.key);
    if (input.inFlight.has(operation.key) || neededBy(operation, { ...context, snapshot }) !== undefined) return true;
    if (isTried) return false;
    // An interrupted watch may show as held what another replica has restored since.
    if (operation.mustRead && scaling.direction === 'down') return true;
    return snapshot.kind === 'unknown' || (snapshot.kind !== 'state' && operation.ifMissing === 'failed');
  });
};

/** Continues a scaling on the latest verdict. With a newer one a scale-down tries again what has failed: others may still settle for minutes. */
export const confirmScaling = (
  scaling: Scaling,
  { scope, reason, direction, isTried }: DesiredScaling,
  now: number,
): Scaling => {
  const retry = (operation: Operation): Operation =>
    operation.phase.kind === 'failed' ? startOperation(operation, now) : operation;
  const { operations } = scaling;
  return {
    ...scaling,
    scope,
    reason,
    operations: direction === 'down' && isTried !== true ? operations.map(retry) : operations,
  };
};

export interface ScalingStep {
  readonly scaling: Scaling;
  readonly actions: readonly Action[];
  /** Monotonic instant of the next step that needs neither a response nor a change; Infinity if there is none. */
  readonly wakeAt: number;
}

/** Applies the responses, steps the operations of the started levels, and starts the levels that may start now. */
export const advanceScaling = (scaling: Scaling, input: ScalingInput): ScalingStep => {
  const actions: Action[] = [];
  let current = applyResponses(scaling, input);
  for (;;) {
    const stepped = hasFailed(current) ? { scaling: current, actions: [] } : stepStarted(current, input);
    actions.push(...stepped.actions);
    current = stepped.scaling;
    if (hasFailed(current) || !mayStartNextLevel(current, input)) break;
    current = startNextLevel(current, input.now);
  }
  const end = endOf(current);
  if (end === undefined) return { scaling: current, actions, wakeAt: nextWake(current, input) };
  return { scaling: { ...current, rest: { since: input.now, end } }, actions, wakeAt: Number.POSITIVE_INFINITY };
};

const applyResponses = (scaling: Scaling, { responses, snapshotOf, now, keepsRetrying }: ScalingInput): Scaling => ({
  ...scaling,
  operations: scaling.operations.map((operation) => {
    const response = responses.find(({ key }) => key === operation.key);
    if (response === undefined) return operation;
    const mayBeForeign = scaling.scope === 'held' && annotatedIn(snapshotOf(operation.key)) === undefined;
    return applyResponse(operation, response, { now, keepsRetrying, mayBeForeign });
  }),
});

/** True if an error ends the scaling. Only a scale-up ends so; the next run starts it again. */
const hasFailed = ({ direction, operations }: Scaling): boolean =>
  direction === 'up' && operations.some(({ phase }) => phase.kind === 'failed');

const stepStarted = (
  scaling: Scaling,
  input: ScalingInput,
): { readonly scaling: Scaling; readonly actions: readonly Action[] } => {
  const { now, wallNow, holder, snapshotOf, mayScale, inFlight } = input;
  const { direction, reason } = scaling;
  const heldValue = direction === 'down' ? formatHeldAnnotation({ since: wallNow, reason, ...holder }) : undefined;
  const context = { ...patchInput(scaling, input), heldValue, now, mayScale };
  const actions: Action[] = [];
  const operations = scaling.operations.map((operation) => {
    if (inFlight.has(operation.key)) return operation;
    const snapshot = snapshotOf(operation.key);
    const stepped = stepOperation(operation, { ...context, snapshot });
    if (stepped.action !== undefined) actions.push(stepped.action);
    return stepped.operation;
  });
  return { scaling: { ...scaling, operations }, actions };
};

const isIdle = ({ phase }: Operation): boolean => phase.kind === 'idle';

const startNextLevel = (scaling: Scaling, now: number): Scaling => {
  const next = Math.min(...scaling.operations.filter(isIdle).map(({ info }) => info.level));
  return {
    ...scaling,
    operations: scaling.operations.map((operation) =>
      operation.info.level === next ? startOperation(operation, now) : operation,
    ),
  };
};

/** Returns the operations of the level that has started last. */
const currentLevel = ({ operations }: Scaling): readonly Operation[] => {
  const started = operations.filter((operation) => !isIdle(operation));
  const latest = Math.max(...started.map(({ info }) => info.level));
  return started.filter(({ info }) => info.level === latest);
};

/**
 * A scale-up waits until the level is over, and needs a fresh verdict: MCM, started before KCM is ready, would replace healthy machines. A scale-down waits
 * too, but not for resources that have used up their attempts, and only until `levelCutoff`: one that cannot be scaled must not leave others unprotected.
 */
const mayStartNextLevel = (scaling: Scaling, { now, snapshotOf, mayScale }: ScalingInput): boolean => {
  if (!scaling.operations.some(isIdle)) return false;
  const level = currentLevel(scaling);
  if (level.length > 0 && !mayScale) return false;
  return scaling.direction === 'down' ? now >= levelCutoff(level, snapshotOf) : level.every(isOver);
};

/**
 * After its initial delay, a level of a scale-down may delay the next one by at most this time, in milliseconds. All levels together have the 10 s between the
 * expiry age (30 s) and KCM's grace period (40 s).
 */
export const downLevelLimitMs = 3_000;

/** The limit starts after the initial delay, which the operator configured; a resource that is at 0 already has no delay. */
const levelCutoff = (level: readonly Operation[], snapshotOf: ScalingContext['snapshotOf']): number =>
  Math.max(
    ...level
      .filter((operation) => !letsNextLevelStart(operation))
      .map((operation) => {
        const { initialDelayMs, timeoutMs } = operation.info;
        const delayMs = isAlreadyAtZero(operation, snapshotOf(operation.key)) ? 0 : initialDelayMs;
        return operation.startedAt + delayMs + Math.min(timeoutMs, downLevelLimitMs);
      }),
  );

const nextWake = (scaling: Scaling, { snapshotOf, mayScale }: ScalingInput): number => {
  const hasMore = scaling.direction === 'down' && mayScale && scaling.operations.some(isIdle);
  return Math.min(
    hasMore ? levelCutoff(currentLevel(scaling), snapshotOf) : Number.POSITIVE_INFINITY,
    ...scaling.operations.map((operation) => wakeTime(operation, snapshotOf(operation.key))),
  );
};

const endOf = (scaling: Scaling): Rest['end'] | undefined => {
  if (hasFailed(scaling)) return 'failed';
  if (!scaling.operations.every(isOver)) return undefined;
  return scaling.operations.some(({ phase }) => phase.kind === 'failed') ? 'failed' : 'completed';
};

/** True if a write of ours has changed a resource, or may have. */
export const hasWritten = ({ operations }: Pick<Scaling, 'operations'>): boolean =>
  operations.some(({ mayHaveWritten }) => mayHaveWritten);
