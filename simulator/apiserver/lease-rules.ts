import { type JsonMap, asMap, getPath, withPath } from './object.ts';
import type { StatusCause } from './kind.ts';

/** `metav1.MicroTime` requires exactly six digits after the seconds, because its layout in Go has six. */
const microTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})(Z|[+-]\d\d:\d\d)$/;

const timeFields = ['acquireTime', 'renewTime'];

const isMicroTime = (value: unknown): boolean =>
  typeof value === 'string' && microTime.test(value) && !Number.isNaN(Date.parse(value));

/** Returns the error of the real server's decoder for a Lease; undefined if the Lease is valid. */
export const leaseProblem = (object: Readonly<JsonMap>): string | undefined => {
  const spec = asMap(object.spec);
  const wrong = timeFields.find(
    (field) => spec[field] !== undefined && spec[field] !== null && !isMicroTime(spec[field]),
  );
  if (wrong === undefined) return undefined;
  const text = JSON.stringify(spec[wrong]);
  return `parsing time ${text} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${text}`;
};

/** Converts a MicroTime to UTC and keeps its microseconds. */
const inUtc = (text: string): string => {
  const [, , micros = '', zone] = microTime.exec(text) ?? [];
  if (zone === 'Z') return text;
  return new Date(Date.parse(text)).toISOString().replace(/\.\d{3}Z$/, `.${micros}Z`);
};

/** Converts times to UTC and removes those that are null, as the real server does. */
export const normalizeLease = (object: JsonMap): JsonMap => {
  let result = object;
  for (const field of timeFields) {
    const path = ['spec', field];
    const value = getPath(object, path);
    if (value === null) result = withPath(result, path, undefined);
    else if (typeof value === 'string' && !value.endsWith('Z')) result = withPath(result, path, inUtc(value));
  }
  return result;
};

/** https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/coordination/validation/validation.go */
export const validateLease = (object: Readonly<JsonMap>): readonly StatusCause[] => {
  const { leaseDurationSeconds, leaseTransitions } = asMap(object.spec);
  const causes: StatusCause[] = [];
  const refuse = (field: string, value: number, rule: string): void => {
    causes.push({
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${value}: must be ${rule}`,
      field: `spec.${field}`,
    });
  };
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    refuse('leaseDurationSeconds', leaseDurationSeconds, 'greater than 0');
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    refuse('leaseTransitions', leaseTransitions, 'greater than or equal to 0');
  }
  return causes;
};
