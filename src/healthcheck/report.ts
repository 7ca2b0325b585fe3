import type { UpdatedCondition } from '../domain/index.ts';
import type { LogFields, Logger } from '../ports/index.ts';
import type { ExtensionObject } from './check.ts';

/** The only part that logs. A failure that lasts is told once, not once a period. */
export interface Report {
  readonly written: (object: ExtensionObject, update: UpdatedCondition) => void;
  readonly ran: (object: ExtensionObject) => void;
  readonly failed: (object: ExtensionObject, error: unknown) => void;
  readonly listed: () => void;
  readonly listFailed: (error: unknown) => void;
  /** Forgets all other objects. */
  readonly keep: (objects: readonly ExtensionObject[]) => void;
}

export const keyOf = ({ meta }: ExtensionObject): string => `${meta.namespace}/${meta.name}`;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const fieldsOf = ({ meta }: ExtensionObject): LogFields => ({ namespace: meta.namespace, name: meta.name });

/** Key under which the failure of the list itself is remembered; no object has it. */
const listKey = '';

export const createReport = (logger: Logger): Report => {
  /** Texts of the failures that last, by object. */
  const failures = new Map<string, string>();

  const fail = (key: string, message: string, fields: LogFields & { readonly error: unknown }): void => {
    const text = textOf(fields.error);
    if (failures.get(key) === text) return;
    failures.set(key, text);
    logger.warn(message, fields);
  };

  return {
    written: (object, { condition: { type, status, reason, message } }) =>
      logger.info('condition written', { ...fieldsOf(object), condition: type, status, reason, text: message }),
    ran: (object) => {
      if (failures.delete(keyOf(object))) logger.info('health checks run again', fieldsOf(object));
    },
    failed: (object, error) => fail(keyOf(object), 'health checks could not be run', { ...fieldsOf(object), error }),
    listed: () => {
      if (failures.delete(listKey)) logger.info('extension objects can be listed again');
    },
    listFailed: (error) => fail(listKey, 'extension objects could not be listed', { error }),
    keep: (objects) => {
      const kept = new Set([listKey, ...objects.map(keyOf)]);
      for (const key of failures.keys()) if (!kept.has(key)) failures.delete(key);
    },
  };
};
