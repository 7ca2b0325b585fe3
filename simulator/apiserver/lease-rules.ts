import { type JsonMap, asMap } from './object.ts';

/** `metav1.MicroTime` requires exactly six digits after the seconds, because its layout in Go has six. */
const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/;

const timeFields = ['acquireTime', 'renewTime'];

const isMicroTime = (value: unknown): boolean =>
  typeof value === 'string' && microTime.test(value) && !Number.isNaN(Date.parse(value));

/** Returns the error of the real server's decoder for a Lease; undefined if the Lease is valid. */
export const leaseProblem = (object: Readonly<JsonMap>): string | undefined => {
  const spec = asMap(object.spec);
  const wrong = timeFields.find((field) => spec[field] !== undefined && !isMicroTime(spec[field]));
  if (wrong === undefined) return undefined;
  const text = JSON.stringify(spec[wrong]);
  return `parsing time ${text} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${text}`;
};
