import type { Condition, UpdatedCondition } from '../domain/index.ts';
import type { Labels, LogFields, Logger } from '../ports/index.ts';
import type { ExtensionObject } from './check.ts';
import type { ExtensionKind } from './extension.ts';
import type { HealthCheckMetrics } from './metrics.ts';
import type { RunOutcome } from './reconcile.ts';

/** The only part that logs and counts. A failure that lasts is told once, not once a period. */
export interface Report {
  /** What the conditions of the object are to be, written or not. */
  readonly judged: (object: ExtensionObject, conditions: readonly Condition[]) => void;
  readonly written: (object: ExtensionObject, update: UpdatedCondition) => void;
  readonly ran: (object: ExtensionObject, outcome: RunOutcome) => void;
  readonly failed: (object: ExtensionObject, error: unknown) => void;
  readonly listed: () => void;
  readonly listFailed: (error: unknown) => void;
  /** Forgets all other objects. */
  readonly keep: (objects: readonly ExtensionObject[]) => void;
}

export interface ReportOptions {
  readonly logger: Logger;
  readonly kind: ExtensionKind;
  readonly metrics: HealthCheckMetrics | undefined;
}

export const keyOf = ({ meta }: ExtensionObject): string => `${meta.namespace}/${meta.name}`;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const fieldsOf = ({ meta }: ExtensionObject): LogFields & Labels => ({ namespace: meta.namespace, name: meta.name });

/** Key under which the failure of the list itself is remembered; no object has it. */
const listKey = '';

export const createReport = ({ logger, kind, metrics }: ReportOptions): Report => {
  /** Texts of the failures that last, by object. */
  const failures = new Map<string, string>();
  /** Objects with series of their own. */
  const counted = new Map<string, ExtensionObject>();

  const fail = (key: string, message: string, fields: LogFields & { readonly error: unknown }): void => {
    const text = textOf(fields.error);
    if (failures.get(key) === text) return;
    failures.set(key, text);
    logger.warn(message, fields);
  };

  const forget = (object: ExtensionObject): void => {
    metrics?.conditions.remove({ kind, ...fieldsOf(object) });
    counted.delete(keyOf(object));
  };

  return {
    judged: (object, conditions) => {
      forget(object);
      counted.set(keyOf(object), object);
      for (const { type, status } of conditions) {
        metrics?.conditions.set(1, { kind, ...fieldsOf(object), condition: type, status });
      }
    },
    written: (object, { condition: { type, status, reason, message } }) =>
      logger.info('condition written', { ...fieldsOf(object), condition: type, status, reason, text: message }),
    ran: (object, outcome) => {
      metrics?.runs.inc({ kind, outcome });
      if (failures.delete(keyOf(object))) logger.info('health checks run again', fieldsOf(object));
    },
    failed: (object, error) => {
      metrics?.runs.inc({ kind, outcome: 'failed' });
      fail(keyOf(object), 'health checks could not be run', { ...fieldsOf(object), error });
    },
    listed: () => {
      if (failures.delete(listKey)) logger.info('extension objects can be listed again');
    },
    listFailed: (error) => fail(listKey, 'extension objects could not be listed', { error }),
    keep: (objects) => {
      const kept = new Set([listKey, ...objects.map(keyOf)]);
      for (const key of failures.keys()) if (!kept.has(key)) failures.delete(key);
      for (const [key, object] of counted) if (!kept.has(key)) forget(object);
    },
  };
};
