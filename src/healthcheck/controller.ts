import {
  type Condition,
  type ConditionChange,
  findCondition,
  mergeConditions,
  storedConditions,
  updateCondition,
} from '../gardener/condition.ts';
import { ownConditionType } from '../gardener/shoot-conditions.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { isApiError } from '../kubernetes/api/errors.ts';
import type { CallOptions, Kube, KubeClient } from '../kubernetes/api/kube.ts';
import { type Informer, type InformerDeps, createInformer } from '../kubernetes/cache/index.ts';
import { retryOnConflict } from '../kubernetes/client/index.ts';
import { runInScope } from '../kubernetes/transport/index.ts';
import { type ReadyCheck, WorkQueue } from '../process/index.ts';
import type { CheckOutcome, ExtensionObject, HealthCheckController } from './check.ts';
import {
  decodeExtension,
  decodeHibernation,
  extensionsPath,
  getCluster,
  getExtension,
  isLeaving,
  patchConditions,
} from './extension.ts';
import { aggregateOutcomes, hibernatedChange, uncheckedChange } from './judge.ts';
import { type HealthCheckMetrics, HealthCheckReport, type RunOutcome } from './report.ts';
import { runChecks } from './run-checks.ts';
import type { ShootConnections } from './shoot-connections.ts';

/** A watch of the seed's Clusters: of each, if its shoot is hibernated. */
export type ClusterWatch = Informer<boolean>;

export const createClusterWatch = (options: InformerDeps & { readonly kube: Kube }): ClusterWatch =>
  createInformer({
    ...options,
    path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
    project: decodeHibernation,
  });

/** What the controllers of a process share. */
export interface ControllerDeps extends InformerDeps {
  readonly shoots: Pick<ShootConnections, 'clientFor' | 'forget'>;
  /** Transport to the seed, with all its policies. */
  readonly kube: Kube;
  /** Client of the seed. Only the status of extension objects is written with it. */
  readonly seed: KubeClient;
  /** The watch of Clusters that the process runs, if its objects have Clusters: an object is checked at once when its shoot hibernates or wakes up. */
  readonly clusters?: ClusterWatch | undefined;
  readonly metrics: HealthCheckMetrics;
}

const withDefaults = ({
  classes = ['shoot'],
  predicates = [],
  conditionTypesToRemove = [],
  syncPeriodMs = 30_000,
  concurrency = 5,
  ...others
}: HealthCheckController): Required<HealthCheckController> => ({
  ...others,
  classes,
  predicates,
  conditionTypesToRemove,
  syncPeriodMs,
  concurrency,
});

/** Throws a RangeError for invalid options. */
export const checkController = (controller: HealthCheckController): void => {
  const { checks, classes, conditionTypesToRemove, syncPeriodMs, concurrency } = withDefaults(controller);
  const problem = (text: string): RangeError => new RangeError(`health checks: ${text}`);
  if (checks.length === 0) throw problem('checks must not be empty');
  if (checks.some(({ conditionType }) => conditionType === '')) throw problem('a check has an empty conditionType');
  if (checks.some(({ conditionType }) => conditionType === ownConditionType)) {
    throw problem(`gardener takes ${ownConditionType} from no extension: no check may have this conditionType`);
  }
  const both = checks.find(({ conditionType }) => conditionTypesToRemove.includes(conditionType))?.conditionType;
  if (both !== undefined) throw problem(`conditionTypesToRemove has ${both}, which a check has as well`);
  if (classes.length === 0) throw problem('classes must not be empty');
  if (!(syncPeriodMs > 0)) throw problem(`syncPeriodMs must be greater than 0, is ${syncPeriodMs}`);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw problem(`concurrency must be a whole number of at least 1, is ${concurrency}`);
  }
};

/** True if objects of the controller have Clusters. Only objects of the class `shoot` do. */
export const needsClusters = (controller: HealthCheckController): boolean =>
  withDefaults(controller).classes.includes('shoot');

/** Gives calls without a timeout this one, because such a call would take a new connection, like a watch. */
const withTimeout = (client: KubeClient, defaultMs: number): KubeClient => ({
  call: (call, { timeoutMs = defaultMs, ...options }) => client.call(call, { ...options, timeoutMs }),
});

/** Computes the change of a condition from the stored one. Called again after a conflict. */
type Evaluate = (type: string, old: Condition | undefined) => ConditionChange;

/**
 * Maintains the conditions of all extension objects of one kind, type and class: it runs all checks of each object every sync period, and writes conditions
 * that differ. Failures are logged and retried in the next period.
 */
export class ObjectController {
  readonly name: string;
  readonly #controller: Required<HealthCheckController>;
  readonly #deps: ControllerDeps;
  readonly #report: HealthCheckReport;
  readonly #objects: Informer<ExtensionObject>;

  constructor(controller: HealthCheckController, deps: ControllerDeps) {
    const { kind, type } = controller;
    this.name = `health checks of ${kind} ${type}`;
    this.#controller = withDefaults(controller);
    this.#deps = deps;
    const logger = deps.logger.child({ kind, type });
    this.#report = new HealthCheckReport({ logger, kind, metrics: deps.metrics });
    this.#objects = createInformer({ ...deps, logger, path: extensionsPath(kind), project: decodeExtension });
  }

  check(): ReadyCheck {
    return { name: this.name, ok: this.#objects.synced, detail: this.#objects.state().problem };
  }

  /** Runs until `signal` aborts, and resolves when all checks have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, clusters, shoots } = this.#deps;
    const { concurrency, syncPeriodMs } = this.#controller;
    const queue = new WorkQueue({
      clock,
      concurrency,
      reconcile: async (key) => {
        const object = this.#own(key);
        if (object === undefined) return;
        const startedAt = clock.monotonic();
        await this.#check(object, signal);
        // The object may be gone by now.
        if (this.#own(key) === undefined) this.#report.forget(object);
        else queue.addAfter(key, Math.max(0, startedAt + syncPeriodMs - clock.monotonic()));
      },
      onError: (_key, error) => this.#report.unexpectedError(error),
    });
    const subscriptions = [
      this.#objects.subscribe(({ type, key, value, previous }) => {
        if (type === 'deleted') this.#report.forget(value);
        else if (previous === undefined) queue.add(key);
      }),
      clusters?.subscribe(({ type, key, value, previous }) => {
        if (type === 'deleted') shoots.forget(key);
        else if (value !== previous) for (const one of this.#keysOf(key)) queue.add(one);
      }),
    ];
    await this.#objects.run(signal);
    for (const unsubscribe of subscriptions) unsubscribe?.();
    await queue.drain();
  }

  /** Returns the keys of the objects of a control plane. */
  #keysOf(controlPlane: string): readonly string[] {
    return Array.from(this.#objects.entries()).flatMap(([key, object]) =>
      object.controlPlane === controlPlane ? [key] : [],
    );
  }

  /** Returns an object, if this controller is responsible for it. */
  #own(key: string): ExtensionObject | undefined {
    const { type, classes } = this.#controller;
    const object = this.#objects.get(key);
    return object?.type === type && classes.some((one) => one === object.class) ? object : undefined;
  }

  /** Never rejects. */
  async #check(object: ExtensionObject, signal: AbortSignal): Promise<void> {
    const timeoutMs = 2 * this.#controller.syncPeriodMs;
    const onTimeout = (): Error => new Error(`the run did not finish within ${formatGoDuration(timeoutMs)}`);
    const scope = { clock: this.#deps.clock, timeoutMs, onTimeout, signal };
    try {
      this.#report.ran(object, await runInScope(scope, (until) => this.#reconcile(object, until)));
    } catch (error) {
      if (!signal.aborted) this.#report.failed(object, error);
    }
  }

  /**
   * Runs all checks of one object, then writes at most once, or again after a conflict. If the Cluster cannot be read, all conditions become Unknown, so that
   * none looks up to date, and the run rejects. Rejects with an ApiError or DecodeError, or with `signal.reason`.
   */
  async #reconcile(object: ExtensionObject, signal: AbortSignal): Promise<RunOutcome> {
    const { checks, predicates, syncPeriodMs } = this.#controller;
    if (isLeaving(object) || !predicates.every((predicate) => predicate(object))) return 'left-alone';
    // With the checks, a read and a write take two periods at most, so that a slow read leaves time for the write.
    const options: CallOptions = { signal, timeoutMs: syncPeriodMs / 2 };
    const { cluster, isHibernated } = await this.#readCluster(object, options).catch(async (error: unknown) => {
      signal.throwIfAborted();
      await this.#write(object, () => uncheckedChange(error), options);
      throw error;
    });
    if (isHibernated) {
      await this.#write(object, () => hibernatedChange, options);
      return 'hibernated';
    }
    const outcomes = await this.#runChecks(object, cluster, signal);
    const evaluate: Evaluate = (type, old) => {
      const own = outcomes.filter((_, index) => checks[index]?.conditionType === type);
      return aggregateOutcomes(own, { old, now: this.#deps.clock.now() });
    };
    await this.#write(object, evaluate, options);
    return 'checked';
  }

  /** Reads the Cluster of an object. Objects of classes other than `shoot` have none. */
  async #readCluster(
    object: ExtensionObject,
    options: CallOptions,
  ): Promise<{ readonly cluster?: JsonObject; readonly isHibernated: boolean }> {
    if (object.class !== 'shoot') return { isHibernated: false };
    const { value: cluster } = await this.#deps.seed.call(getCluster(object.controlPlane), options);
    return { cluster, isHibernated: decodeHibernation(cluster, 'cluster') };
  }

  /** Runs all checks of one object. The kubeconfig of the shoot is read at most once, when a check first needs it. */
  #runChecks(
    extension: ExtensionObject,
    cluster: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<readonly CheckOutcome[]> {
    const { clock, shoots } = this.#deps;
    const { checks, syncPeriodMs: timeoutMs } = this.#controller;
    const seed = withTimeout(this.#deps.seed, timeoutMs);
    const connect = async (): Promise<KubeClient> => {
      if (extension.class !== 'shoot') throw new Error(`an extension of class ${extension.class} has no shoot`);
      return withTimeout(await shoots.clientFor(extension.controlPlane, signal), timeoutMs);
    };
    let client: Promise<KubeClient> | undefined;
    const shoot = () => (client ??= connect());
    return runChecks(checks, { clock, context: { extension, cluster, seed, shoot }, timeoutMs, signal });
  }

  /** Writes conditions that differ, and retries after a conflict with the object read again. An object that is gone is no error. */
  async #write(read: ExtensionObject, evaluate: Evaluate, options: CallOptions): Promise<void> {
    const { kind } = this.#controller;
    try {
      await retryOnConflict(read, {
        attempt: (object) => this.#writeOnce(object, evaluate, options),
        reread: async (object) => {
          const { value } = await this.#deps.seed.call(getExtension(kind, object), options);
          return value.meta.uid === object.meta.uid && !isLeaving(value) ? value : undefined;
        },
      });
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
    }
  }

  async #writeOnce(object: ExtensionObject, evaluate: Evaluate, options: CallOptions): Promise<void> {
    const { clock, seed } = this.#deps;
    const { kind, checks, conditionTypesToRemove: toRemove } = this.#controller;
    const judged = [...new Set(checks.map(({ conditionType }) => conditionType))].map((type) => {
      const old = findCondition(object.conditions, type);
      return updateCondition({ type, old }, evaluate(type, old), clock.now());
    });
    this.#report.judged(object, judged);
    const changed = judged.filter((condition) => !object.conditions.includes(condition));
    const isRemoving = object.conditions.some(({ type }) => toRemove.includes(type));
    if (changed.length === 0 && !isRemoving) return;
    const conditions = mergeConditions(storedConditions(object.object, kind), judged, toRemove);
    await seed.call(patchConditions(kind, object, conditions), options);
    for (const condition of changed) this.#report.written(object, condition);
  }
}
