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

export const keyOf = ({ meta }: ExtensionObject): string => `${meta.namespace}/${meta.name}`;

const fieldsOf = ({ meta }: ExtensionObject): LogFields & Labels => ({ namespace: meta.namespace, name: meta.name });

/** Key of the failure to list objects. No object has this key. */
const listKey = '';

/** The only part that logs and counts the runs of checks. It logs a lasting failure once, and not in every period. */
export class HealthCheckReport {
  readonly #options: ReportOptions;
  /** Texts of lasting failures that were logged, by object. */
  readonly #failures = new Map<string, string>();
  /** Objects with series in the metrics. */
  readonly #counted = new Map<string, ExtensionObject>();

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  /** Sets the metrics of an object to its new conditions, even if none differs from the stored ones. */
  judged(object: ExtensionObject, conditions: readonly Condition[]): void {
    const { kind, metrics } = this.#options;
    this.#forget(object);
    this.#counted.set(keyOf(object), object);
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
    if (outcome === 'left-alone') this.#forget(object);
    if (this.#failures.delete(keyOf(object))) this.#options.logger.info('health checks run again', fieldsOf(object));
  }

  failed(object: ExtensionObject, error: unknown): void {
    this.#count('failed');
    this.#fail(keyOf(object), 'health checks could not be run', { ...fieldsOf(object), error });
  }

  listed(): void {
    if (this.#failures.delete(listKey)) this.#options.logger.info('extension objects can be listed again');
  }

  listFailed(error: unknown): void {
    this.#fail(listKey, 'extension objects could not be listed', { error });
  }

  /** Removes the state and the metrics of all other objects. */
  keep(objects: readonly ExtensionObject[]): void {
    const kept = new Set([listKey, ...objects.map(keyOf)]);
    for (const key of this.#failures.keys()) if (!kept.has(key)) this.#failures.delete(key);
    for (const [key, object] of this.#counted) if (!kept.has(key)) this.#forget(object);
  }

  #count(outcome: string): void {
    const { kind, metrics } = this.#options;
    metrics.runs.inc({ kind, outcome });
  }

  #fail(key: string, message: string, fields: LogFields & { readonly error: unknown }): void {
    const text = errorText(fields.error);
    if (this.#failures.get(key) === text) return;
    this.#failures.set(key, text);
    this.#options.logger.warn(message, fields);
  }

  #forget(object: ExtensionObject): void {
    const { kind, metrics } = this.#options;
    metrics.conditions.remove({ kind, ...fieldsOf(object) });
    this.#counted.delete(keyOf(object));
  }
}
