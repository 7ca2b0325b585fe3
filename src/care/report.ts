import type { Condition } from '../gardener/condition.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { troubleOf } from './act.ts';
import { withoutResponseTime } from './judge/api-server.ts';
import type { ShootResult } from './shoot.ts';

export interface CareReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
}

const sameExceptResponseTime = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  withoutResponseTime(a.message) === withoutResponseTime(b.message) &&
  (a.codes ?? []).join() === (b.codes ?? []).join();

const byType = (conditions: readonly Condition[]): ReadonlyMap<string, Condition> =>
  new Map(conditions.map((condition) => [condition.type, condition]));

const problemOf = ({ problem, writing }: ShootResult): string =>
  problem === undefined ? troubleOf(writing) : `the Cluster cannot be read: ${problem}`;

/** Label of a shoot's series: its control-plane namespace. */
const perShoot = ['namespace'] as const;

const createMetrics = (meter: Meter) => ({
  conditions: meter.gauge({
    name: 'dwd_care_condition',
    help: '1 for the current status of a condition.',
    labels: [...perShoot, 'condition', 'status'],
  }),
  changes: meter.counter({
    name: 'dwd_care_condition_changes_total',
    help: 'Changes of conditions, by new status.',
    labels: ['condition', 'status'],
  }),
  runs: meter.counter({
    name: 'dwd_care_runs_total',
    help: 'Care runs: written, unchanged, left-alone, elsewhere, failed, gone, dry-run, no-garden or unreadable.',
    labels: ['outcome'],
  }),
  runSeconds: meter.histogram({
    name: 'dwd_care_run_seconds',
    help: 'Duration of a care run.',
    buckets: [0.05, 0.1, 0.3, 1, 3, 5, 10, 15, 30, 60, 120],
  }),
  unreadable: meter.gauge({
    name: 'dwd_care_cluster_unreadable',
    help: '1 while the Cluster of a shoot cannot be read.',
    labels: perShoot,
  }),
  bugs: meter.counter({
    name: 'dwd_care_unexpected_errors_total',
    help: 'Unexpected exceptions; each is a bug.',
  }),
});

/** The only part of care that logs and counts. It logs changes, not checks. It declares the metrics, so create one per meter. */
export class CareReport {
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof createMetrics>;

  constructor({ logger, meter }: CareReportDeps) {
    this.#logger = logger;
    this.#metrics = createMetrics(meter);
  }

  /** Reports a check. `last`: the one before, if it is known. */
  checked(result: ShootResult, last?: ShootResult): void {
    const { namespace, conditions, before, problem, writing, durationMs, bug } = result;
    this.#metrics.runs.inc({ outcome: problem === undefined ? writing.kind : 'unreadable' });
    this.#metrics.runSeconds.observe(durationMs / 1_000);
    this.#metrics.unreadable.set(problem === undefined ? 0 : 1, { namespace });
    const known = byType(last?.conditions ?? before);
    this.#forgetOthers(result, known);
    for (const condition of conditions) this.#reportCondition(result, condition, known.get(condition.type));
    this.#reportProblem(namespace, problemOf(result), last === undefined ? '' : problemOf(last));
    if (bug !== undefined) this.unexpectedError(namespace, bug);
  }

  /** Removes the metrics of a shoot that is no longer on this seed. */
  forget(namespace: string): void {
    this.#metrics.conditions.remove({ namespace });
    this.#metrics.unreadable.remove({ namespace });
  }

  /** Reports an exception that no code handles. */
  unexpectedError(namespace: string, error: unknown): void {
    this.#metrics.bugs.inc();
    this.#logger.error('unexpected error: this is a bug', { namespace, error });
  }

  #reportCondition({ namespace, shoot }: ShootResult, condition: Condition, last: Condition | undefined): void {
    const { type, status, reason, message, codes } = condition;
    if (last?.status !== status) {
      this.#metrics.conditions.remove({ namespace, condition: type });
      this.#metrics.changes.inc({ condition: type, status });
    }
    this.#metrics.conditions.set(1, { namespace, condition: type, status });
    if (last !== undefined && sameExceptResponseTime(last, condition)) return;
    this.#logger.info('condition changed', {
      namespace,
      ...(shoot === undefined ? {} : { shoot: `${shoot.namespace}/${shoot.name}` }),
      condition: type,
      status,
      ...(last === undefined ? {} : { from: last.status }),
      reason,
      text: message,
      ...(codes === undefined ? {} : { codes }),
    });
  }

  /** Removes the metrics of conditions that the shoot has lost, such as EveryNodeReady with its last worker pool. */
  #forgetOthers({ namespace, conditions }: ShootResult, known: ReadonlyMap<string, Condition>): void {
    const present = byType(conditions);
    for (const type of known.keys()) {
      if (!present.has(type)) this.#metrics.conditions.remove({ namespace, condition: type });
    }
  }

  #reportProblem(namespace: string, problem: string, last: string): void {
    if (problem === last) return;
    if (problem === '') this.#logger.info('trouble is over', { namespace });
    else this.#logger.warn(problem, { namespace });
  }
}
