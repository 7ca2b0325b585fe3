import { formatGoDuration } from '../domain/index.ts';
import { createWatchRegistry } from '../kube/index.ts';
import type { Clock, Kube, KubeClient, Logger, Random, ShootConnection } from '../ports/index.ts';
import { createMeter } from '../telemetry/index.ts';
import type { ExtensionClass, ExtensionObject, HealthCheck } from './check.ts';
import { type ClusterWatch, createClusterWatch, onClusterNews } from './cluster-watch.ts';
import { withDeadline } from './deadline.ts';
import { type ExtensionKind, getExtension, listExtensions } from './extension.ts';
import type { HealthCheckMetrics } from './metrics.ts';
import { isCode, type ReconcileDeps, reconcile } from './reconcile.ts';
import { createReport, keyOf, type Report } from './report.ts';
import { createRunPool, type RunPool } from './run-pool.ts';

/** Which objects are checked, and how. */
export interface HealthCheckController {
  readonly kind: ExtensionKind;
  /** `spec.type` of the objects, compared as it is. */
  readonly type: string;
  /** Classes of the objects. Default: those of shoots. */
  readonly classes?: readonly ExtensionClass[];
  /** Objects for which one of them is false are left alone. */
  readonly predicates?: readonly ((extension: ExtensionObject) => boolean)[];
  /** At least one. */
  readonly checks: readonly HealthCheck[];
  /** Types of conditions that a former version of the extension wrote, and that are to go. None of the checks may have them. */
  readonly conditionTypesToRemove?: readonly string[];
  /** Milliseconds from one run for an object to the next; the checks may take that long, a run twice as long. Default 30 s. */
  readonly syncPeriodMs?: number;
  /** Objects checked at the same time, at least 1. Default 5. */
  readonly concurrency?: number;
}

/** How a controller reaches its seed and the shoots. */
export interface SeedAccess {
  readonly clock: Clock;
  /** Its writes go to the status of the extension objects. */
  readonly seed: KubeClient;
  /**
   * By this the Clusters of the seed are watched: when a shoot hibernates, wakes up or moves, its objects are looked at at once. Absent: in
   * the next period.
   */
  readonly watch?: { readonly kube: Kube; readonly random: Random };
  /**
   * Connects to the shoot whose control plane is in `namespace`; called at most once a run, when a check first asks for it, and closed at
   * the end of the run. Absent: checks that ask for the shoot cannot be carried out.
   */
  readonly connectShoot?: (namespace: string, signal: AbortSignal) => Promise<ShootConnection>;
}

export interface HealthCheckControllerOptions extends HealthCheckController, SeedAccess {
  readonly logger: Logger;
}

/** What a process with several controllers shares among them. */
export interface SharedParts {
  /** Run by the process. */
  readonly clusters?: ClusterWatch | undefined;
  readonly metrics?: HealthCheckMetrics;
  /** Calls when the objects have been listed for the first time. */
  readonly onListed?: () => void;
}

const defaultSyncPeriodMs = 30_000;
const defaultConcurrency = 5;
const defaultClasses: readonly ExtensionClass[] = ['shoot'];

const noShoot = (): Promise<ShootConnection> =>
  Promise.reject(new Error('there is no connectShoot to reach the shoot'));

/** Throws a RangeError for what makes no sense. */
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
  const both = checks.find(({ conditionType }) => conditionTypesToRemove.includes(conditionType))?.conditionType;
  if (both !== undefined) throw problem(`conditionTypesToRemove has ${both}, which a check has as well`);
  if (classes.length === 0) throw problem('classes must not be empty');
  if (!(syncPeriodMs > 0)) throw problem(`syncPeriodMs must be greater than 0, is ${syncPeriodMs}`);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw problem(`concurrency must be a whole number of at least 1, is ${concurrency}`);
  }
};

/** Whether a controller has to do with Clusters at all: those of other classes than shoots have none. */
export const needsClusters = ({ classes = defaultClasses }: HealthCheckController): boolean =>
  classes.includes('shoot');

/**
 * Keeps the conditions of all extension objects of one kind, type and class: every sync period all checks of an object run, and the conditions
 * they make are written where they differ. Works until `signal` aborts and resolves when what runs has ended; failures are logged and tried
 * again in the next period. Rejects only with a RangeError for options that make no sense.
 */
export const runHealthChecks = async (options: HealthCheckControllerOptions, signal: AbortSignal): Promise<void> => {
  const { clock, logger, watch } = options;
  // There is no meter, and nobody to ask for the ages of watches.
  const registry = createWatchRegistry(createMeter({ processMetrics: false }));
  const clusters =
    watch === undefined || !needsClusters(options)
      ? undefined
      : createClusterWatch({ clock, logger, registry, ...watch });
  const ended = new AbortController();
  const watching = clusters?.run(AbortSignal.any([signal, ended.signal]));
  try {
    await runController(options, { clusters }, signal);
  } finally {
    ended.abort();
    await watching;
  }
};

/** The same with what several controllers share. */
export const runController = async (
  options: HealthCheckControllerOptions,
  { clusters, metrics, onListed }: SharedParts,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, syncPeriodMs = defaultSyncPeriodMs, concurrency = defaultConcurrency, kind, type } = options;
  checkController(options);
  const report = createReport({ logger: options.logger.child({ kind, type }), kind, metrics });
  const run = runnerOf({ options, report, syncPeriodMs, signal });
  const pool = createRunPool<ExtensionObject>({ concurrency, run });
  const objects = createObjects({ options, report, pool, timeoutMs: syncPeriodMs, signal });
  const hearing = clusters && onClusterNews(clusters, (name) => objects.lookAgain(name), signal);
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    if (await objects.look()) onListed?.();
    await clock.sleep(startedAt + syncPeriodMs - clock.monotonic(), signal).catch(() => undefined);
  }
  await hearing;
  await pool.close();
};

interface RunnerParts {
  readonly options: HealthCheckControllerOptions;
  readonly report: Report;
  readonly syncPeriodMs: number;
  readonly signal: AbortSignal;
}

/** One run for one object, reported. Never rejects. */
const runnerOf = ({ options, report, syncPeriodMs, signal }: RunnerParts) => {
  const { clock, connectShoot = noShoot, conditionTypesToRemove = [], predicates = [] } = options;
  const deps: ReconcileDeps = {
    ...options,
    connectShoot,
    conditionTypesToRemove,
    checkTimeoutMs: syncPeriodMs,
    onJudged: report.judged,
    onWritten: report.written,
  };
  const late = `the run did not finish within ${formatGoDuration(2 * syncPeriodMs)}`;
  return async (object: ExtensionObject): Promise<void> => {
    try {
      if (!predicates.every((predicate) => predicate(object))) {
        report.ran(object, 'left-alone');
        return;
      }
      const run = (until: AbortSignal) => reconcile(deps, object, until);
      report.ran(object, await withDeadline({ clock, ms: 2 * syncPeriodMs, late, signal }, run));
    } catch (error) {
      if (!signal.aborted) report.failed(object, error);
    }
  };
};

interface ObjectsParts {
  readonly options: HealthCheckControllerOptions;
  readonly report: Report;
  readonly pool: RunPool<ExtensionObject>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The objects of a controller, as they were listed last. */
const createObjects = ({ options, report, pool, timeoutMs, signal }: ObjectsParts) => {
  const { seed, kind, type, classes = defaultClasses } = options;
  const isOwn = (object: ExtensionObject): boolean =>
    object.type === type && classes.some((one) => one === object.class);
  let known: readonly ExtensionObject[] = [];

  /** A list may be as old as the period. */
  const reread = async (object: ExtensionObject): Promise<void> => {
    try {
      const { value } = await seed.call(getExtension(kind, object), { signal, timeoutMs });
      if (isOwn(value)) pool.offerFirst(keyOf(value), value);
    } catch (error) {
      if (!signal.aborted && !isCode(error, 'NotFound')) report.failed(object, error);
    }
  };

  return {
    /** Lists all and has them run; whether that succeeded. */
    look: async (): Promise<boolean> => {
      try {
        const { value } = await seed.call(listExtensions(kind), { signal, timeoutMs });
        known = value.filter(isOwn);
        report.keep(known);
        pool.offer(new Map(known.map((object) => [keyOf(object), object])));
        report.listed();
        return true;
      } catch (error) {
        if (!signal.aborted) report.listFailed(error);
        return false;
      }
    },
    /** Has those of one control plane run at once. */
    lookAgain: (controlPlane: string): void => {
      for (const object of known) if (object.controlPlane === controlPlane) void reread(object);
    },
  };
};
