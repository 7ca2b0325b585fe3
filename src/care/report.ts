import { type Condition, findCondition } from '../gardener/condition.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { withoutResponseTime } from './judge/api-server.ts';
import type { LastResults, ShootResult } from './shoot.ts';

export interface CareReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
  /** The metric of conditions shows them. */
  readonly results: LastResults;
}

const sameExceptResponseTime = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  withoutResponseTime(a.message) === withoutResponseTime(b.message) &&
  (a.codes ?? []).join() === (b.codes ?? []).join();

const problemOf = ({ problem, writing }: ShootResult): string =>
  problem === undefined ? (writing.trouble ?? '') : `the Cluster cannot be read: ${problem}`;

const createMetrics = ({ meter, results }: CareReportDeps) => ({
  conditions: meter.gauge({
    name: 'dwd_care_condition',
    help: '1 for the current status of a condition.',
    labels: ['namespace', 'condition', 'status'],
    read: () =>
      Array.from(results.values()).flatMap(({ namespace, conditions }) =>
        conditions.map(({ type, status }) => ({ value: 1, labels: { namespace, condition: type, status } })),
      ),
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
  bugs: meter.counter({
    name: 'dwd_care_unexpected_errors_total',
    help: 'Unexpected exceptions; each is a bug.',
  }),
});

/** The only part of care that logs and counts. It logs changes, not checks. It declares the metrics, so create one per meter. */
export class CareReport {
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof createMetrics>;

  constructor(deps: CareReportDeps) {
    this.#logger = deps.logger;
    this.#metrics = createMetrics(deps);
  }

  /** Reports a check. `last`: the one before, if it is known. */
  checked(result: ShootResult, last?: ShootResult): void {
    const { namespace, conditions, before, problem, writing, durationMs, bug } = result;
    this.#metrics.runs.inc({ outcome: problem === undefined ? writing.kind : 'unreadable' });
    this.#metrics.runSeconds.observe(durationMs / 1_000);
    const known = last?.conditions ?? before;
    for (const one of conditions) this.#reportCondition(result, one, findCondition(known, one.type));
    this.#reportProblem(namespace, problemOf(result), last === undefined ? '' : problemOf(last));
    if (bug !== undefined) this.unexpectedError(namespace, bug);
  }

  /** Reports an exception that no code handles. */
  unexpectedError(namespace: string, error: unknown): void {
    this.#metrics.bugs.inc();
    this.#logger.error('unexpected error: this is a bug', { namespace, error });
  }

  #reportCondition({ namespace, shoot }: ShootResult, condition: Condition, last: Condition | undefined): void {
    const { type, status, reason, message, codes } = condition;
    if (last !== undefined && sameExceptResponseTime(last, condition)) return;
    this.#logger.info('condition changed', {
      namespace,
      shoot: shoot && `${shoot.namespace}/${shoot.name}`,
      condition: type,
      status,
      from: last?.status,
      reason,
      text: message,
      codes,
    });
  }

  #reportProblem(namespace: string, problem: string, last: string): void {
    if (problem === last) return;
    if (problem === '') this.#logger.info('trouble is over', { namespace });
    else this.#logger.warn(problem, { namespace });
  }
}
