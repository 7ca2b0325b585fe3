import type { ExtensionKind } from '../gardener/extensions.ts';
import { ownConditionType } from '../gardener/shoot-conditions.ts';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { isApiError } from '../kubernetes/api/errors.ts';
import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { runInScope } from '../kubernetes/transport/index.ts';
import type { Logger } from '../ports/logger.ts';
import { WorkQueue } from '../process/index.ts';
import { createMeter } from '../telemetry/index.ts';
import type { ExtensionClass, ExtensionObject, HealthCheck, SeedAccess } from './check.ts';
import { type ClusterWatch, createClusterWatch, onClusterChange } from './cluster-watch.ts';
import { getExtension, listExtensions } from './extension.ts';
import { reconcile } from './reconcile.ts';
import { type HealthCheckMetrics, HealthCheckReport, createHealthCheckMetrics, keyOf } from './report.ts';

/** A controller: the objects that it checks, and their checks. */
export interface HealthCheckController<Type extends string = string> {
  readonly kind: ExtensionKind;
  /** `spec.type` of the objects, compared exactly. */
  readonly type: string;
  /** Classes of the objects. Default: only `shoot`. */
  readonly classes?: readonly ExtensionClass[];
  /** Functions of the object. If one of them returns false, the object is not checked. */
  readonly predicates?: readonly ((extension: ExtensionObject) => boolean)[];
  /** Checks of each object; at least one. */
  readonly checks: readonly HealthCheck<Type>[];
  /** Condition types of an earlier version of the extension, which are removed. No check may have one of them. */
  readonly conditionTypesToRemove?: readonly string[];
  /** Interval between two runs for an object, in milliseconds. It is also the timeout of the checks, and half the timeout of a run. Default 30 s. */
  readonly syncPeriodMs?: number;
  /** Maximum number of objects that are checked concurrently, at least 1. Default 5. */
  readonly concurrency?: number;
}

/** Options of `runHealthChecks`. */
export interface HealthCheckControllerOptions<Type extends string = string>
  extends HealthCheckController<Type>,
    SeedAccess {
  readonly logger: Logger;
}

/** Parts that the controllers of one process share. */
export interface SharedParts {
  /** Watch of Clusters that the process runs. */
  readonly clusters?: ClusterWatch | undefined;
  readonly metrics: HealthCheckMetrics;
  /** Called after each successful list of the objects. */
  readonly onListed?: () => void;
}

const defaultSyncPeriodMs = 30_000;
const defaultConcurrency = 5;
const defaultClasses: readonly ExtensionClass[] = ['shoot'];

/** Throws a RangeError for invalid options. */
export const checkController = ({
  checks,
  classes = defaultClasses,
  conditionTypesToRemove = [],
  syncPeriodMs = defaultSyncPeriodMs,
  concurrency = defaultConcurrency,
}: HealthCheckController): void => {
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
export const needsClusters = ({ classes = defaultClasses }: HealthCheckController): boolean =>
  classes.includes('shoot');

/**
 * Maintains the conditions of all extension objects of one kind, type and class: it runs all checks of each object every sync period, and writes conditions
 * that differ. Runs until `signal` aborts, and resolves when all checks have ended. Failures are logged and retried in the next period. Rejects only with a
 * RangeError for invalid options.
 */
export const runHealthChecks = async <Type extends string>(
  options: HealthCheckControllerOptions<Type>,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, logger, watch } = options;
  // Nothing serves these metrics.
  const meter = createMeter({ processMetrics: false });
  const registry = createWatchRegistry(meter);
  const clusters =
    watch === undefined || !needsClusters(options)
      ? undefined
      : createClusterWatch({ clock, logger, registry, ...watch });
  const ended = new AbortController();
  const watching = clusters?.run(AbortSignal.any([signal, ended.signal]));
  try {
    await runController(options, { clusters, metrics: createHealthCheckMetrics(meter) }, signal);
  } finally {
    ended.abort();
    await watching;
  }
};

/** Like `runHealthChecks`, with the parts that several controllers of one process share. */
export const runController = (
  options: HealthCheckControllerOptions,
  shared: SharedParts,
  signal: AbortSignal,
): Promise<void> => {
  checkController(options);
  return new ObjectController(options, shared, signal).run();
};

/** Runs the checks of all objects of one controller. */
class ObjectController {
  readonly #options: HealthCheckControllerOptions;
  readonly #shared: SharedParts;
  readonly #signal: AbortSignal;
  readonly #syncPeriodMs: number;
  readonly #report: HealthCheckReport;
  readonly #queue: WorkQueue;
  /** The objects of the last list, or as read since, by key. */
  #objects = new Map<string, ExtensionObject>();

  constructor(options: HealthCheckControllerOptions, shared: SharedParts, signal: AbortSignal) {
    const { kind, type, syncPeriodMs = defaultSyncPeriodMs, concurrency = defaultConcurrency } = options;
    this.#options = options;
    this.#shared = shared;
    this.#signal = signal;
    this.#syncPeriodMs = syncPeriodMs;
    const logger = options.logger.child({ kind, type });
    this.#report = new HealthCheckReport({ logger, kind, metrics: shared.metrics });
    this.#queue = new WorkQueue({
      clock: options.clock,
      concurrency,
      reconcile: (key) => this.#runOne(this.#objects.get(key)),
      onError: (_key, error) => logger.error('unexpected error: this is a bug', { error }),
    });
  }

  async run(): Promise<void> {
    const { clock } = this.#options;
    const { clusters, onListed } = this.#shared;
    const signal = this.#signal;
    const subscribing = clusters && onClusterChange(clusters, (name) => this.#runCluster(name), signal);
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      if (await this.#runAll()) onListed?.();
      await clock.sleep(startedAt + this.#syncPeriodMs - clock.monotonic(), signal).catch(() => undefined);
    }
    await subscribing;
    await this.#queue.drain();
  }

  /** Lists all objects and queues them. One that is being checked may be written after the list, and waits for the next. Resolves with false if the list failed. */
  async #runAll(): Promise<boolean> {
    const { seed, kind } = this.#options;
    const signal = this.#signal;
    try {
      const { value } = await seed.call(listExtensions(kind), { signal, timeoutMs: this.#syncPeriodMs });
      const objects = value.filter((object) => this.#isOwn(object));
      this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
      this.#report.keep(objects);
      for (const key of this.#objects.keys()) if (!this.#queue.isRunning(key)) this.#queue.add(key);
      this.#report.listed();
      return true;
    } catch (error) {
      if (!signal.aborted) this.#report.listFailed(error);
      return false;
    }
  }

  /** Runs the checks of all objects of one control plane at once. */
  #runCluster(controlPlane: string): void {
    for (const object of this.#objects.values()) {
      if (object.controlPlane === controlPlane) void this.#runNow(object);
    }
  }

  /** Reads the object again and queues it: only the difference to the conditions of the list, which may be as old as a whole period, would be written. */
  async #runNow(object: ExtensionObject): Promise<void> {
    const { seed, kind } = this.#options;
    const signal = this.#signal;
    try {
      const { value } = await seed.call(getExtension(kind, object), { signal, timeoutMs: this.#syncPeriodMs });
      if (!this.#isOwn(value)) return;
      this.#objects.set(keyOf(value), value);
      this.#queue.add(keyOf(value));
    } catch (error) {
      if (!signal.aborted && !isApiError(error, 'NotFound')) this.#report.failed(object, error);
    }
  }

  #isOwn(object: ExtensionObject): boolean {
    const { type, classes = defaultClasses } = this.#options;
    return object.type === type && classes.some((one) => one === object.class);
  }

  /** Never rejects. `object` is absent if it disappeared while it waited. */
  async #runOne(object: ExtensionObject | undefined): Promise<void> {
    if (object === undefined) return;
    const { clock, predicates = [] } = this.#options;
    const deps = { ...this.#options, checkTimeoutMs: this.#syncPeriodMs, report: this.#report };
    const timeoutMs = 2 * this.#syncPeriodMs;
    const onTimeout = (): Error => new Error(`the run did not finish within ${formatGoDuration(timeoutMs)}`);
    try {
      const outcome = predicates.every((predicate) => predicate(object))
        ? await runInScope({ clock, timeoutMs, onTimeout, signal: this.#signal }, (until) =>
            reconcile(deps, object, until),
          )
        : 'left-alone';
      this.#report.ran(object, outcome);
    } catch (error) {
      if (!this.#signal.aborted) this.#report.failed(object, error);
    }
  }
}
