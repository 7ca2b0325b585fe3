import {
  ApiError,
  type Condition,
  type ConditionChange,
  type UpdatedCondition,
  findCondition,
  mergeConditionsByType,
  updateCondition,
  withoutConditionTypes,
} from '../domain/index.ts';
import type { CallOptions, Clock, KubeClient, ShootConnection } from '../ports/index.ts';
import { aggregateOutcomes, hibernatedChange, uncheckedChange } from './aggregate.ts';
import type { CheckContext, CheckOutcome, ExtensionObject, HealthCheck } from './check.ts';
import { decodeClusterState } from './cluster-watch.ts';
import {
  type ExtensionKind,
  getCluster,
  getExtension,
  isLeaving,
  patchConditions,
  storedConditions,
} from './extension.ts';
import { runChecks } from './run-checks.ts';
import { createShootLink } from './shoot-link.ts';

export interface ReconcileDeps {
  readonly clock: Clock;
  readonly seed: KubeClient;
  readonly connectShoot: (namespace: string, signal: AbortSignal) => Promise<ShootConnection>;
  readonly kind: ExtensionKind;
  readonly checks: readonly HealthCheck[];
  /** Types of conditions that are taken away. */
  readonly conditionTypesToRemove: readonly string[];
  /** Milliseconds for the checks. */
  readonly checkTimeoutMs: number;
  /** Hears what the conditions of an object are to be, written or not. */
  readonly onJudged: (object: ExtensionObject, conditions: readonly Condition[]) => void;
  /** Hears of each condition that was written. */
  readonly onWritten: (object: ExtensionObject, update: UpdatedCondition) => void;
}

/** Who writes the same object over and over does not let us in; the next run tries again. */
const writeTries = 5;

/** What the checks have found, to be made conditions: on a conflict once more, from other stored ones. */
type Evaluate = (object: ExtensionObject, type: string) => ConditionChange;

/** What became of an object in one run. */
export type RunOutcome = 'left-alone' | 'hibernated' | 'checked';

/**
 * One run for one object: all checks, then at most one write. When nothing can be checked, because the Cluster cannot be read, no condition is
 * left to look fresh; the run rejects all the same. Rejects with an ApiError or DecodeError, or with `signal.reason`.
 */
export const reconcile = async (
  deps: ReconcileDeps,
  object: ExtensionObject,
  signal: AbortSignal,
): Promise<RunOutcome> => {
  if (isLeaving(object)) return 'left-alone';
  // Together with the checks that makes two periods: a slow read leaves time for the write.
  const options: CallOptions = { signal, timeoutMs: deps.checkTimeoutMs / 2 };
  const ofCluster = await readCluster(deps, object, options).catch(async (error: unknown) => {
    signal.throwIfAborted();
    await write(deps, object, { evaluate: () => uncheckedChange(error), options });
    throw error;
  });
  if (ofCluster.hibernated) {
    await write(deps, object, { evaluate: () => hibernatedChange, options });
    return 'hibernated';
  }
  await check(deps, { extension: object, ...ofCluster.context }, options);
  return 'checked';
};

interface OfCluster {
  readonly hibernated: boolean;
  readonly context: Pick<CheckContext, 'cluster'>;
}

/** Objects that are for no shoot have no Cluster. */
const readCluster = async (
  { seed }: ReconcileDeps,
  object: ExtensionObject,
  options: CallOptions,
): Promise<OfCluster> => {
  if (object.class !== 'shoot') return { hibernated: false, context: {} };
  const { value: cluster } = await seed.call(getCluster(object.controlPlane), options);
  return { hibernated: decodeClusterState(cluster, 'cluster').hibernated, context: { cluster } };
};

const check = async (
  deps: ReconcileDeps,
  of: Pick<CheckContext, 'extension' | 'cluster'>,
  options: CallOptions,
): Promise<void> => {
  const { clock, seed, checks, checkTimeoutMs: timeoutMs } = deps;
  const { extension } = of;
  const link = createShootLink((until) =>
    extension.class === 'shoot'
      ? deps.connectShoot(extension.controlPlane, until)
      : Promise.reject(new Error(`an extension of class ${extension.class} has no shoot`)),
  );
  try {
    const context = { ...of, seed, shoot: link.client };
    const outcomes = await runChecks(checks, { clock, context, timeoutMs, signal: options.signal });
    await write(deps, extension, { evaluate: evaluateWith(deps, outcomes), options });
  } finally {
    link.close();
  }
};

const evaluateWith =
  ({ checks, clock }: ReconcileDeps, outcomes: readonly CheckOutcome[]): Evaluate =>
  (object, type) => {
    const own = outcomes.filter((_, index) => checks[index]?.conditionType === type);
    return aggregateOutcomes(own, { old: findCondition(object.conditions, type), now: clock.now() });
  };

interface Writing {
  readonly evaluate: Evaluate;
  readonly options: CallOptions;
}

const updatesOf = (
  { checks, clock }: ReconcileDeps,
  object: ExtensionObject,
  evaluate: Evaluate,
): readonly UpdatedCondition[] =>
  [...new Set(checks.map(({ conditionType }) => conditionType))].map((type) => {
    const old = findCondition(object.conditions, type);
    return updateCondition({ type, old }, evaluate(object, type), clock.now());
  });

/** Of an object whose stored conditions have types that are to go: those that stay. Else undefined. */
const withoutRemoved = (
  { conditionTypesToRemove }: ReconcileDeps,
  object: ExtensionObject,
): ReturnType<typeof storedConditions> | undefined => {
  const stored = storedConditions(object);
  const kept = withoutConditionTypes(stored, conditionTypesToRemove);
  return kept.length === stored.length ? undefined : kept;
};

/** Writes what differs. When somebody else has written in between, the conditions are made anew from what is stored then. */
const write = async (deps: ReconcileDeps, read: ExtensionObject, { evaluate, options }: Writing): Promise<void> => {
  const { seed, kind, onJudged, onWritten } = deps;
  let object = read;
  for (let tries = 1; ; tries += 1) {
    const all = updatesOf(deps, object, evaluate);
    onJudged(
      object,
      all.map(({ condition }) => condition),
    );
    const updates = all.filter(({ changed }) => changed);
    const kept = withoutRemoved(deps, object);
    if (updates.length === 0 && kept === undefined) return;
    const fresh = updates.map(({ condition }) => condition);
    try {
      const conditions = mergeConditionsByType(kept ?? storedConditions(object), fresh);
      await seed.call(patchConditions(kind, object, conditions), options);
      for (const update of updates) onWritten(object, update);
      return;
    } catch (error) {
      if (isCode(error, 'NotFound')) return;
      if (!isCode(error, 'Conflict') || tries === writeTries) throw error;
    }
    const latest = await reread(deps, object, options);
    if (latest === undefined || isLeaving(latest)) return;
    object = latest;
  }
};

/** Undefined when the object is gone, also where another has its name by now. */
const reread = async (
  { seed, kind }: ReconcileDeps,
  object: ExtensionObject,
  options: CallOptions,
): Promise<ExtensionObject | undefined> => {
  try {
    const { value } = await seed.call(getExtension(kind, object), options);
    return value.meta.uid === object.meta.uid ? value : undefined;
  } catch (error) {
    if (isCode(error, 'NotFound')) return undefined;
    throw error;
  }
};

export const isCode = (error: unknown, code: ApiError['code']): boolean =>
  error instanceof ApiError && error.code === code;
