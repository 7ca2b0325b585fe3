import {
  ApiError,
  type ConditionChange,
  type UpdatedCondition,
  findCondition,
  mergeConditionsByType,
  updateCondition,
} from '../domain/index.ts';
import type { CallOptions, Clock, KubeClient, ShootConnection } from '../ports/index.ts';
import { aggregateOutcomes, hibernatedChange } from './aggregate.ts';
import type { CheckOutcome, ExtensionObject, HealthCheck } from './check.ts';
import {
  type ExtensionKind,
  getCluster,
  getExtension,
  isHibernationEnabled,
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
  /** Milliseconds for the checks. */
  readonly checkTimeoutMs: number;
  /** Hears of each condition that was written. */
  readonly onWritten: (object: ExtensionObject, update: UpdatedCondition) => void;
}

/** Who writes the same object over and over does not let us in; the next run tries again. */
const writeTries = 5;

/** What the checks have found, to be made conditions: on a conflict once more, from other stored ones. */
type Evaluate = (object: ExtensionObject, type: string) => ConditionChange;

/** One run for one object: all checks, then at most one write. Rejects with an ApiError or DecodeError, or with `signal.reason`. */
export const reconcile = async (deps: ReconcileDeps, object: ExtensionObject, signal: AbortSignal): Promise<void> => {
  if (isLeaving(object)) return;
  const { clock, seed, checks } = deps;
  // Together with the checks that makes two periods: a slow read leaves time for the write.
  const options: CallOptions = { signal, timeoutMs: deps.checkTimeoutMs / 2 };
  const { value: cluster } = await seed.call(getCluster(object.controlPlane), options);
  if (isHibernationEnabled(cluster)) {
    await write(deps, object, { evaluate: () => hibernatedChange, options });
    return;
  }
  const link = createShootLink((until) => deps.connectShoot(object.controlPlane, until));
  try {
    const context = { extension: object, cluster, seed, shoot: link.client };
    const outcomes = await runChecks(checks, { clock, context, timeoutMs: deps.checkTimeoutMs, signal });
    await write(deps, object, { evaluate: evaluateWith(deps, outcomes), options });
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
  [...new Set(checks.map(({ conditionType }) => conditionType))]
    .map((type) => {
      const old = findCondition(object.conditions, type);
      return updateCondition({ type, old }, evaluate(object, type), clock.now());
    })
    .filter(({ changed }) => changed);

/** Writes what differs. When somebody else has written in between, the conditions are made anew from what is stored then. */
const write = async (deps: ReconcileDeps, read: ExtensionObject, { evaluate, options }: Writing): Promise<void> => {
  const { seed, kind, onWritten } = deps;
  let object = read;
  for (let tries = 1; ; tries += 1) {
    const updates = updatesOf(deps, object, evaluate);
    if (updates.length === 0) return;
    const fresh = updates.map(({ condition }) => condition);
    try {
      await seed.call(patchConditions(kind, object, mergeConditionsByType(storedConditions(object), fresh)), options);
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

const isCode = (error: unknown, code: ApiError['code']): boolean => error instanceof ApiError && error.code === code;
