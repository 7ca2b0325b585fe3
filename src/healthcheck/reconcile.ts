import { retryOnConflict } from '../kubernetes/client/index.ts';
import {
  type Condition,
  type ConditionChange,
  findCondition,
  mergeConditions,
  updateCondition,
} from '../gardener/condition.ts';
import type { ExtensionKind } from '../gardener/extensions.ts';
import { isApiError } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';
import type { Clock } from '../ports/clock.ts';
import { aggregateOutcomes, hibernatedChange, uncheckedChange } from './aggregate.ts';
import type { CheckContext, CheckOutcome, ExtensionObject, HealthCheck } from './check.ts';
import { decodeClusterState } from './cluster-watch.ts';
import { getCluster, getExtension, isLeaving, patchConditions, storedConditions } from './extension.ts';
import { runChecks } from './run-checks.ts';
import { createShootLink } from './shoot-link.ts';

export interface ReconcileDeps {
  readonly clock: Clock;
  readonly seed: KubeClient;
  readonly connectShoot: (namespace: string, signal: AbortSignal) => Promise<ShootConnection>;
  readonly kind: ExtensionKind;
  readonly checks: readonly HealthCheck[];
  readonly conditionTypesToRemove: readonly string[];
  /** Timeout of all checks of an object together, in milliseconds. */
  readonly checkTimeoutMs: number;
  /** Called with the new conditions of an object, before they are written and even if none differs. */
  readonly onJudged: (object: ExtensionObject, conditions: readonly Condition[]) => void;
  /** Called for each condition that was written. */
  readonly onWritten: (object: ExtensionObject, condition: Condition) => void;
}

/** Computes the change of a condition from the outcomes and the stored object. Called again after a conflict. */
type Evaluate = (object: ExtensionObject, type: string) => ConditionChange;

/** The end of one run for one object. */
export type RunOutcome = 'left-alone' | 'hibernated' | 'checked';

/**
 * Runs all checks of one object, then writes at most once, or again after a conflict. If the Cluster cannot be read, all conditions become Unknown, so that
 * none looks up to date, and the run rejects. Rejects with an ApiError or DecodeError, or with `signal.reason`.
 */
export const reconcile = async (
  deps: ReconcileDeps,
  object: ExtensionObject,
  signal: AbortSignal,
): Promise<RunOutcome> => {
  if (isLeaving(object)) return 'left-alone';
  // With the checks, a read and a write take two periods at most, so that a slow read leaves time for the write.
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

/** Reads the Cluster of an object. Objects of classes other than `shoot` have none. */
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

const judgedOf = (
  { checks, clock }: ReconcileDeps,
  object: ExtensionObject,
  evaluate: Evaluate,
): readonly Condition[] =>
  [...new Set(checks.map(({ conditionType }) => conditionType))].map((type) => {
    const old = findCondition(object.conditions, type);
    return updateCondition({ type, old }, evaluate(object, type), clock.now());
  });

/** Writes conditions that differ, and retries after a conflict with the object read again. An object that is gone is no error. */
const write = async (deps: ReconcileDeps, read: ExtensionObject, { evaluate, options }: Writing): Promise<void> => {
  try {
    await retryOnConflict(read, {
      attempt: (object) => writeOnce(deps, object, { evaluate, options }),
      reread: (object) => reread(deps, object, options),
    });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
};

const writeOnce = async (
  deps: ReconcileDeps,
  object: ExtensionObject,
  { evaluate, options }: Writing,
): Promise<void> => {
  const { seed, kind, conditionTypesToRemove, onJudged, onWritten } = deps;
  const judged = judgedOf(deps, object, evaluate);
  onJudged(object, judged);
  const changed = judged.filter((condition) => !object.conditions.includes(condition));
  const isRemoving = object.conditions.some(({ type }) => conditionTypesToRemove.includes(type));
  if (changed.length === 0 && !isRemoving) return;
  const conditions = mergeConditions(storedConditions(object), judged, conditionTypesToRemove);
  await seed.call(patchConditions(kind, object, conditions), options);
  for (const condition of changed) onWritten(object, condition);
};

/** Reads the object again. Resolves with undefined if another object has its name now, or if it must no longer be checked. */
const reread = async (
  { seed, kind }: ReconcileDeps,
  object: ExtensionObject,
  options: CallOptions,
): Promise<ExtensionObject | undefined> => {
  const { value } = await seed.call(getExtension(kind, object), options);
  return value.meta.uid === object.meta.uid && !isLeaving(value) ? value : undefined;
};
