import {
  type Condition,
  type ConditionChange,
  findCondition,
  mergeConditions,
  storedConditions,
  updateCondition,
} from '../gardener/condition.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { isApiError } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { retryOnConflict } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { CheckOutcome, ExtensionObject, HealthCheckController } from './check.ts';
import { decodeHibernation, getCluster, getExtension, isLeaving, patchConditions } from './extension.ts';
import { aggregateOutcomes, hibernatedChange, uncheckedChange } from './judge.ts';
import type { HealthCheckReport, RunOutcome } from './report.ts';
import { runChecks } from './run-checks.ts';
import type { ShootConnections } from './shoot-connections.ts';

export interface ReconcileDeps extends Pick<HealthCheckController, 'kind' | 'checks' | 'conditionTypesToRemove'> {
  readonly clock: Clock;
  /** Client of the seed. Only the status of extension objects is written with it. */
  readonly seed: KubeClient;
  readonly shoots: Pick<ShootConnections, 'clientFor'>;
  /** Timeout of all checks of an object together, in milliseconds. */
  readonly checkTimeoutMs: number;
  readonly report: HealthCheckReport;
}

/** Computes the change of a condition from the outcomes and the stored condition. Called again after a conflict. */
type Evaluate = (type: string, old: Condition | undefined) => ConditionChange;

interface Writing {
  readonly evaluate: Evaluate;
  readonly options: CallOptions;
}

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
  const { cluster, isHibernated } = await readCluster(deps, object, options).catch(async (error: unknown) => {
    signal.throwIfAborted();
    await write(deps, object, { evaluate: () => uncheckedChange(error), options });
    throw error;
  });
  if (isHibernated) {
    await write(deps, object, { evaluate: () => hibernatedChange, options });
    return 'hibernated';
  }
  const { clock, checks } = deps;
  const outcomes = await check(deps, { extension: object, cluster }, signal);
  const evaluate: Evaluate = (type, old) => {
    const own = outcomes.filter((_, index) => checks[index]?.conditionType === type);
    return aggregateOutcomes(own, { old, now: clock.now() });
  };
  await write(deps, object, { evaluate, options });
  return 'checked';
};

/** Reads the Cluster of an object. Objects of classes other than `shoot` have none. */
const readCluster = async (
  { seed }: ReconcileDeps,
  object: ExtensionObject,
  options: CallOptions,
): Promise<{ readonly cluster?: JsonObject; readonly isHibernated: boolean }> => {
  if (object.class !== 'shoot') return { isHibernated: false };
  const { value: cluster } = await seed.call(getCluster(object.controlPlane), options);
  return { cluster, isHibernated: decodeHibernation(cluster, 'cluster') };
};

/** Runs all checks of one object. The kubeconfig of the shoot is read at most once, when a check first needs it. */
const check = async (
  { clock, seed, checks, checkTimeoutMs: timeoutMs, shoots }: ReconcileDeps,
  { extension, cluster }: { readonly extension: ExtensionObject; readonly cluster: JsonObject | undefined },
  signal: AbortSignal,
): Promise<readonly CheckOutcome[]> => {
  const connect = async (): Promise<KubeClient> => {
    if (extension.class !== 'shoot') throw new Error(`an extension of class ${extension.class} has no shoot`);
    return shoots.clientFor(extension.controlPlane, signal);
  };
  let client: Promise<KubeClient> | undefined;
  const shoot = () => (client ??= connect());
  return runChecks(checks, { clock, context: { extension, cluster, seed, shoot }, timeoutMs, signal });
};

/** Writes conditions that differ, and retries after a conflict with the object read again. An object that is gone is no error. */
const write = async (deps: ReconcileDeps, read: ExtensionObject, writing: Writing): Promise<void> => {
  const { seed, kind } = deps;
  try {
    await retryOnConflict(read, {
      attempt: (object) => writeOnce(deps, object, writing),
      reread: async (object) => {
        const { value } = await seed.call(getExtension(kind, object), writing.options);
        return value.meta.uid === object.meta.uid && !isLeaving(value) ? value : undefined;
      },
    });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
};

const writeOnce = async (
  { clock, seed, kind, checks, conditionTypesToRemove: toRemove = [], report }: ReconcileDeps,
  object: ExtensionObject,
  { evaluate, options }: Writing,
): Promise<void> => {
  const judged = [...new Set(checks.map(({ conditionType }) => conditionType))].map((type) => {
    const old = findCondition(object.conditions, type);
    return updateCondition({ type, old }, evaluate(type, old), clock.now());
  });
  report.judged(object, judged);
  const changed = judged.filter((condition) => !object.conditions.includes(condition));
  const isRemoving = object.conditions.some(({ type }) => toRemove.includes(type));
  if (changed.length === 0 && !isRemoving) return;
  const conditions = mergeConditions(storedConditions(object.object, kind), judged, toRemove);
  await seed.call(patchConditions(kind, object, conditions), options);
  for (const condition of changed) report.written(object, condition);
};
