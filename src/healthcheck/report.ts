import type { Condition } from '../gardener/condition.ts';
import type { ExtensionKind } from '../gardener/extensions.ts';
import { errorText } from '../kubernetes/api/errors.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Labels, Meter } from '../ports/meter.ts';
import type { ExtensionObject } from './check.ts';

/** The end of one run for one object. */
export type RunOutcome = 'left-alone' | 'hibernated' | 'checked';

/** Declares the metrics of health checks. Call it once per meter. */
export const createHealthCheckMetrics = (meter: Meter) => ({
  conditions: meter.gauge({
    name: 'dwd_healthcheck_condition',
    help: '1 for the current status of a condition of an extension object; no series for its other statuses.',
    labels: ['kind', 'namespace', 'name', 'condition', 'status'],
  }),
  runs: meter.counter({
    name: 'dwd_healthcheck_runs_total',
    help: 'Runs of health checks by outcome: checked, hibernated, left-alone (the object is being deleted or migrated, or a predicate excludes it) or failed.',
    labels: ['kind', 'outcome'],
  }),
  heartbeats: meter.counter({
    name: 'dwd_healthcheck_heartbeats_total',
    help: 'Attempts to renew the heartbeat of the extension, by outcome: renewed or failed.',
    labels: ['outcome'],
  }),
});

export type HealthCheckMetrics = ReturnType<typeof createHealthCheckMetrics>;

export interface ReportOptions {
  readonly logger: Logger;
  readonly kind: ExtensionKind;
  readonly metrics: HealthCheckMetrics;
}

const keyOf = ({ meta }: ExtensionObject): string => `${meta.namespace}/${meta.name}`;

const fieldsOf = ({ meta }: ExtensionObject): LogFields & Labels => ({ namespace: meta.namespace, name: meta.name });

/** The only part that logs and counts the runs of checks. It logs a lasting failure once, and not in every period. */
export class HealthCheckReport {
  readonly #options: ReportOptions;
  /** Texts of lasting failures that were logged, by object. */
  readonly #failures = new Map<string, string>();

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  /** Sets the metrics of an object to its new conditions, even if none differs from the stored ones. */
  judged(object: ExtensionObject, conditions: readonly Condition[]): void {
    const { kind, metrics } = this.#options;
    this.#uncount(object);
    for (const { type, status } of conditions) {
      metrics.conditions.set(1, { kind, ...fieldsOf(object), condition: type, status });
    }
  }

  written(object: ExtensionObject, { type, status, reason, message }: Condition): void {
    const fields = { ...fieldsOf(object), condition: type, status, reason, text: message };
    this.#options.logger.info('condition written', fields);
  }

  ran(object: ExtensionObject, outcome: RunOutcome): void {
    this.#count(outcome);
    if (outcome === 'left-alone') this.#uncount(object);
    if (this.#failures.delete(keyOf(object))) this.#options.logger.info('health checks run again', fieldsOf(object));
  }

  failed(object: ExtensionObject, error: unknown): void {
    this.#count('failed');
    const text = errorText(error);
    if (this.#failures.get(keyOf(object)) === text) return;
    this.#failures.set(keyOf(object), text);
    this.#options.logger.warn('health checks could not be run', { ...fieldsOf(object), error });
  }

  /** Removes the state and the metrics of an object that is not checked any more. */
  forget(object: ExtensionObject): void {
    this.#uncount(object);
    this.#failures.delete(keyOf(object));
  }

  unexpectedError(error: unknown): void {
    this.#options.logger.error('unexpected error: this is a bug', { error });
  }

  #count(outcome: string): void {
    const { kind, metrics } = this.#options;
    metrics.runs.inc({ kind, outcome });
  }

  #uncount(object: ExtensionObject): void {
    const { kind, metrics } = this.#options;
    metrics.conditions.remove({ kind, ...fieldsOf(object) });
  }
}
