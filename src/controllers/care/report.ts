import type { Condition, NamespacedName, ShootStatus } from '../../domain/index.ts';
import type { Logger, Meter } from '../../ports/index.ts';
import type { Writing } from './act.ts';
import { withoutResponseTime } from './api-server.ts';
import { createCareMetrics } from './metrics.ts';

/** How one shoot is, after one run. */
export interface ShootCare {
  /** Of the control plane. */
  readonly namespace: string;
  /** In the garden; absent where the Cluster cannot be read. */
  readonly shoot?: NamespacedName;
  /** Of the types that care owns, in the order in which they are written; with a `problem`, of those that are known. */
  readonly conditions: readonly Condition[];
  /** Value of the Shoot's label. */
  readonly status: ShootStatus;
  readonly writing: Writing;
  /** Why the checks could not be run. */
  readonly problem?: string;
  readonly durationMs: number;
}

/** The only stage that logs and counts. */
export interface CareReport {
  /** `before`: the conditions as they were stored. */
  ran(care: ShootCare, before: readonly Condition[]): void;
  /** The shoot is no longer on this seed. */
  left(namespace: string): void;
  /** An exception nobody foresaw. */
  broke(namespace: string, error: unknown): void;
}

export interface ReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
}

/** What was told of one shoot. */
interface Told {
  readonly conditions: ReadonlyMap<string, Condition>;
  /** Why nothing was written, or the checks did not run; empty while all is well. */
  readonly trouble: string;
}

const saysSame = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  withoutResponseTime(a.message) === withoutResponseTime(b.message) &&
  (a.codes ?? []).join() === (b.codes ?? []).join();

const byType = (conditions: readonly Condition[]): ReadonlyMap<string, Condition> =>
  new Map(conditions.map((condition) => [condition.type, condition]));

const troubleOf = ({ problem, writing }: ShootCare): string => {
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

/** To be called once per meter: it declares the metrics of care. A trouble that lasts is told once, not once a run. */
export const createCareReport = ({ logger, meter }: ReportDeps): CareReport => {
  const metrics = createCareMetrics(meter);
  const told = new Map<string, Told>();

  const tellCondition = (care: ShootCare, condition: Condition, last: Condition | undefined): void => {
    const { namespace, shoot } = care;
    const { type, status, reason, message, codes } = condition;
    if (last?.status !== status) {
      metrics.conditions.remove({ namespace, condition: type });
      metrics.changes.inc({ condition: type, status });
    }
    metrics.conditions.set(1, { namespace, condition: type, status });
    if (last !== undefined && saysSame(last, condition)) return;
    logger.info('condition changed', {
      namespace,
      ...(shoot === undefined ? {} : { shoot: `${shoot.namespace}/${shoot.name}` }),
      condition: type,
      status,
      ...(last === undefined ? {} : { from: last.status }),
      reason,
      text: message,
      ...(codes === undefined ? {} : { codes }),
    });
  };

  /** A shoot may lose a condition, such as that of its nodes. */
  const forgetOthers = ({ namespace, conditions }: ShootCare, last: Told['conditions']): void => {
    const present = new Set(conditions.map(({ type }) => type));
    for (const type of last.keys()) if (!present.has(type)) metrics.conditions.remove({ namespace, condition: type });
  };

  const tellTrouble = ({ namespace }: ShootCare, trouble: string, last: string): void => {
    if (trouble === last) return;
    if (trouble === '') logger.info('trouble is over', { namespace });
    else logger.warn(trouble, { namespace });
  };

  return {
    ran: (care, before) => {
      const { namespace, conditions, problem, writing, durationMs } = care;
      metrics.runs.inc({ outcome: problem === undefined ? writing.kind : 'unreadable' });
      metrics.runSeconds.observe(durationMs / 1_000);
      metrics.unreadable.set(problem === undefined ? 0 : 1, { namespace });
      const last = told.get(namespace) ?? { conditions: byType(before), trouble: '' };
      if (problem === undefined) forgetOthers(care, last.conditions);
      for (const condition of conditions) tellCondition(care, condition, last.conditions.get(condition.type));
      const trouble = troubleOf(care);
      tellTrouble(care, trouble, last.trouble);
      const isKnown = problem === undefined || conditions.length > 0;
      told.set(namespace, { conditions: isKnown ? byType(conditions) : last.conditions, trouble });
    },
    left: (namespace) => {
      told.delete(namespace);
      metrics.conditions.remove({ namespace });
      metrics.unreadable.remove({ namespace });
    },
    broke: (namespace, error) => {
      metrics.bugs.inc();
      logger.error('unexpected error: this is a bug', { namespace, error });
    },
  };
};
