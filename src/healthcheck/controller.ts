import { formatGoDuration } from '../domain/index.ts';
import type { Clock, KubeClient, Logger, ShootConnection } from '../ports/index.ts';
import type { ExtensionObject, HealthCheck } from './check.ts';
import { withDeadline } from './deadline.ts';
import { type ExtensionKind, listExtensions } from './extension.ts';
import { type ReconcileDeps, reconcile } from './reconcile.ts';
import { createReport, keyOf } from './report.ts';
import { createRunPool } from './run-pool.ts';

export interface HealthCheckControllerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Its writes go to the status of the extension objects. */
  readonly seed: KubeClient;
  /**
   * Connects to the shoot whose control plane is in `namespace`; called at most once a run, when a check first asks for it, and closed at
   * the end of the run. Absent: checks that ask for the shoot cannot be carried out.
   */
  readonly connectShoot?: (namespace: string, signal: AbortSignal) => Promise<ShootConnection>;
  readonly kind: ExtensionKind;
  /** `spec.type` of the objects, compared as it is. */
  readonly type: string;
  /** At least one. */
  readonly checks: readonly HealthCheck[];
  /** Milliseconds from one run for an object to the next; the checks may take that long, a run twice as long. Default 30 s. */
  readonly syncPeriodMs?: number;
  /** Objects checked at the same time, at least 1. Default 5. */
  readonly concurrency?: number;
}

const defaultSyncPeriodMs = 30_000;
const defaultConcurrency = 5;

const noShoot = (): Promise<ShootConnection> =>
  Promise.reject(new Error('there is no connectShoot to reach the shoot'));

const checkOptions = ({
  checks,
  syncPeriodMs,
  concurrency,
}: Required<Pick<HealthCheckControllerOptions, 'checks' | 'syncPeriodMs' | 'concurrency'>>): void => {
  const problem = (text: string): RangeError => new RangeError(`health checks: ${text}`);
  if (checks.length === 0) throw problem('checks must not be empty');
  if (checks.some(({ conditionType }) => conditionType === '')) throw problem('a check has an empty conditionType');
  if (!(syncPeriodMs > 0)) throw problem(`syncPeriodMs must be greater than 0, is ${syncPeriodMs}`);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw problem(`concurrency must be a whole number of at least 1, is ${concurrency}`);
  }
};

/**
 * Keeps the conditions of all extension objects of one kind and type: every sync period all checks of an object run, and the conditions they
 * make are written where they differ. Works until `signal` aborts and resolves when what runs has ended; failures are logged and tried
 * again in the next period. Rejects only with a RangeError for options that make no sense.
 */
export const runHealthChecks = async (options: HealthCheckControllerOptions, signal: AbortSignal): Promise<void> => {
  const { clock, seed, syncPeriodMs = defaultSyncPeriodMs, concurrency = defaultConcurrency, kind, type } = options;
  checkOptions({ checks: options.checks, syncPeriodMs, concurrency });
  const report = createReport(options.logger.child({ kind, type }));
  const { connectShoot = noShoot } = options;
  const deps: ReconcileDeps = { ...options, connectShoot, checkTimeoutMs: syncPeriodMs, onWritten: report.written };

  const runOne = async (object: ExtensionObject): Promise<void> => {
    const late = `the run did not finish within ${formatGoDuration(2 * syncPeriodMs)}`;
    try {
      await withDeadline({ clock, ms: 2 * syncPeriodMs, late, signal }, (until) => reconcile(deps, object, until));
      report.ran(object);
    } catch (error) {
      if (!signal.aborted) report.failed(object, error);
    }
  };

  const pool = createRunPool<ExtensionObject>({ concurrency, run: runOne });
  const look = async (): Promise<void> => {
    try {
      const { value: objects } = await seed.call(listExtensions(kind), { signal, timeoutMs: syncPeriodMs });
      const own = objects.filter((object) => object.type === type);
      report.keep(own);
      pool.offer(new Map(own.map((object) => [keyOf(object), object])));
      report.listed();
    } catch (error) {
      if (!signal.aborted) report.listFailed(error);
    }
  };

  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    await look();
    await clock.sleep(startedAt + syncPeriodMs - clock.monotonic(), signal).catch(() => undefined);
  }
  await pool.close();
};
