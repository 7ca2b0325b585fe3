import { ownConditionType } from '../gardener/shoot-conditions.ts';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type Informer, type InformerDeps, createInformer } from '../kubernetes/cache/index.ts';
import { runInScope } from '../kubernetes/transport/index.ts';
import { type ReadyCheck, WorkQueue } from '../process/index.ts';
import type { ExtensionClass, ExtensionObject, HealthCheckController } from './check.ts';
import { decodeExtension, decodeHibernation, extensionsPath } from './extension.ts';
import { type ReconcileDeps, reconcile } from './reconcile.ts';
import { type HealthCheckMetrics, HealthCheckReport } from './report.ts';
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
export interface ControllerDeps extends InformerDeps, Pick<ReconcileDeps, 'seed'> {
  readonly shoots: Pick<ShootConnections, 'clientFor' | 'forget'>;
  /** Transport to the seed, with all its policies. */
  readonly kube: Kube;
  /** The watch of Clusters that the process runs, if its objects have Clusters: an object is checked at once when its shoot hibernates or wakes up. */
  readonly clusters?: ClusterWatch | undefined;
  readonly metrics: HealthCheckMetrics;
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
 * that differ. Failures are logged and retried in the next period.
 */
export class ObjectController {
  readonly name: string;
  readonly #controller: HealthCheckController;
  readonly #deps: ControllerDeps;
  readonly #syncPeriodMs: number;
  readonly #report: HealthCheckReport;
  readonly #objects: Informer<ExtensionObject>;

  constructor(controller: HealthCheckController, deps: ControllerDeps) {
    const { kind, type, syncPeriodMs = defaultSyncPeriodMs } = controller;
    this.name = `health checks of ${kind} ${type}`;
    this.#controller = controller;
    this.#deps = deps;
    this.#syncPeriodMs = syncPeriodMs;
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
    const { concurrency = defaultConcurrency } = this.#controller;
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
        else queue.addAfter(key, Math.max(0, startedAt + this.#syncPeriodMs - clock.monotonic()));
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
    const { type, classes = defaultClasses } = this.#controller;
    const object = this.#objects.get(key);
    return object?.type === type && classes.some((one) => one === object.class) ? object : undefined;
  }

  /** Never rejects. */
  async #check(object: ExtensionObject, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const { predicates = [] } = this.#controller;
    const deps = { ...this.#deps, ...this.#controller, checkTimeoutMs: this.#syncPeriodMs, report: this.#report };
    const timeoutMs = 2 * this.#syncPeriodMs;
    const onTimeout = (): Error => new Error(`the run did not finish within ${formatGoDuration(timeoutMs)}`);
    try {
      const outcome = predicates.every((predicate) => predicate(object))
        ? await runInScope({ clock, timeoutMs, onTimeout, signal }, (until) => reconcile(deps, object, until))
        : 'left-alone';
      this.#report.ran(object, outcome);
    } catch (error) {
      if (!signal.aborted) this.#report.failed(object, error);
    }
  }
}
