import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { Condition } from '../gardener/condition.ts';
import type { ShootStatus } from '../gardener/shoot-status.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { WriteResult } from './act.ts';
import { withoutResponseTime } from './checks/api-server.ts';
import { type CareMetrics, createCareMetrics } from './metrics.ts';

/** Result of one check of one shoot. */
export interface ShootResult {
  /** Namespace of the control plane. */
  readonly namespace: string;
  /** Namespace and name of the Shoot in the garden. Absent if the Cluster does not name it. */
  readonly shoot?: NamespacedName;
  /** Conditions of the types that care owns, in the order in which they are written. With a `problem`, only types that existed before. */
  readonly conditions: readonly Condition[];
  /** Value of the Shoot's status label. */
  readonly status: ShootStatus;
  readonly writing: WriteResult;
  /** The reason why there was no check. */
  readonly problem?: string;
  readonly durationMs: number;
}

export interface CareReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
}

/** The state of one shoot that was logged last. */
interface Reported {
  readonly conditions: ReadonlyMap<string, Condition>;
  /** The reason why nothing was written or checked; empty if there is none. */
  readonly problem: string;
}

const sameExceptResponseTime = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  withoutResponseTime(a.message) === withoutResponseTime(b.message) &&
  (a.codes ?? []).join() === (b.codes ?? []).join();

const byType = (conditions: readonly Condition[]): ReadonlyMap<string, Condition> =>
  new Map(conditions.map((condition) => [condition.type, condition]));

const problemOf = ({ problem, writing }: ShootResult): string => {
  if (problem !== undefined) return `the Cluster cannot be read: ${problem}`;
  switch (writing.kind) {
    case 'left-alone':
      return `left alone: ${writing.writer.manager} writes these conditions; --take-over writes them all the same`;
    case 'failed':
      return `conditions could not be written: ${writing.error}`;
    case 'gone':
      return 'there is no such Shoot in the garden';
    case 'elsewhere':
      return `not written: the Shoot is on seed ${writing.seed} now`;
    case 'unchanged':
    case 'written':
    case 'no-garden':
    case 'dry-run':
      return '';
  }
};

/** The only part of care that logs and counts. It logs changes, not checks. It declares the metrics, so create one per meter. */
export class CareReport {
  readonly #logger: Logger;
  readonly #metrics: CareMetrics;
  readonly #reported = new Map<string, Reported>();

  constructor({ logger, meter }: CareReportDeps) {
    this.#logger = logger;
    this.#metrics = createCareMetrics(meter);
  }

  /** Reports a check. `before`: the conditions from which those of the result were computed. */
  checked(result: ShootResult, before: readonly Condition[]): void {
    const { namespace, conditions, problem, writing, durationMs } = result;
    this.#metrics.runs.inc({ outcome: problem === undefined ? writing.kind : 'unreadable' });
    this.#metrics.runSeconds.observe(durationMs / 1_000);
    this.#metrics.unreadable.set(problem === undefined ? 0 : 1, { namespace });
    const last = this.#reported.get(namespace) ?? { conditions: byType(before), problem: '' };
    if (problem === undefined) this.#forgetOthers(result, last);
    for (const condition of conditions) this.#reportCondition(result, condition, last.conditions.get(condition.type));
    this.#reportProblem(result, last);
    const isKnown = problem === undefined || conditions.length > 0;
    const shown = isKnown ? byType(conditions) : last.conditions;
    this.#reported.set(namespace, { conditions: shown, problem: problemOf(result) });
  }

  /** Removes the metrics of a shoot that is no longer on this seed. */
  forget(namespace: string): void {
    this.#reported.delete(namespace);
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
  #forgetOthers({ namespace, conditions }: ShootResult, last: Reported): void {
    const present = byType(conditions);
    for (const type of last.conditions.keys()) {
      if (!present.has(type)) this.#metrics.conditions.remove({ namespace, condition: type });
    }
  }

  #reportProblem(result: ShootResult, last: Reported): void {
    const { namespace } = result;
    const problem = problemOf(result);
    if (problem === last.problem) return;
    if (problem === '') this.#logger.info('trouble is over', { namespace });
    else this.#logger.warn(problem, { namespace });
  }
}
