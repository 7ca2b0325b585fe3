import { type Path, nearest } from './rules/index.ts';
import * as z from 'zod';
import { isObject } from '../kubernetes/api/decode.ts';

/** What a configuration holds beyond its schema; `.path` is that of the key. */
export interface Deviation {
  readonly path: Path;
  readonly message: string;
  /** `unknown-field` and `spelling` are about the key at the end of the path, `not-text` is about its value. */
  readonly kind: 'unknown-field' | 'spelling' | 'not-text';
}

export interface Conformed {
  /** The value as the schema knows it: null is absent, keys are spelled its way, unknown ones are left out. */
  readonly value: unknown;
  readonly deviations: readonly Deviation[];
}

/** Words that YAML 1.1, which the Go program reads, takes for booleans where they are not quoted. */
const yaml11Booleans: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'yes', 'on'].map((word) => [word, true] as const),
  ...['n', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Of these numbers the text that Go writes is the shortest one: a float32 keeps six digits, and needs no exponent below a million. */
const wholeNumber = /^(?:0|[1-9]\d{0,14})$/;
const decimalNumber = /^(?:0|[1-9]\d{0,5})\.\d{1,5}$/;
/** Six digits and the point. */
const longestDecimal = 7;

/**
 * What `sigs.k8s.io/yaml` (convertToJSONableObject) makes of a scalar without quotes where text is wanted: `yes` is "true", `1.10` is "1.1".
 * Undefined for text, and for numbers in other forms, which are refused.
 */
const asGoText = (plain: string, value: unknown): string | undefined => {
  if (value === null) return '';
  if (typeof value === 'boolean') return String(value);
  const isAnyCase = plain !== plain.toLowerCase() && plain !== plain.toUpperCase() && !/^[A-Z][a-z]+$/.test(plain);
  const boolean = isAnyCase ? undefined : yaml11Booleans.get(plain.toLowerCase());
  if (boolean !== undefined) return String(boolean);
  const isDecimal = plain.length <= longestDecimal && decimalNumber.test(plain);
  return isDecimal || wholeNumber.test(plain) ? String(Number(plain)) : undefined;
};

const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? inner(schema.unwrap()) : schema;

interface Options {
  /** A scalar without quotes as it stands in the file; undefined for anything else. */
  readonly plainTextOf: (path: Path) => string | undefined;
  readonly report: (deviation: Deviation) => void;
}

const conformText = (value: unknown, path: Path, { plainTextOf, report }: Options): unknown => {
  const plain = plainTextOf(path);
  const text = plain === undefined ? undefined : asGoText(plain, value);
  if (text === undefined) return value;
  const message = `must be text in quotes: ${plain} is taken for ${JSON.stringify(text)}`;
  report({ path, message, kind: 'not-text' });
  return text;
};

const conformObject = (
  shape: Readonly<Record<string, z.core.$ZodType>>,
  at: { readonly value: Readonly<Record<string, unknown>>; readonly path: Path },
  options: Options,
): unknown => {
  const names = Object.keys(shape);
  const found = new Map<string, unknown>();
  for (const [key, value] of Object.entries(at.value)) {
    const name =
      names.find((known) => known === key) ?? names.find((known) => known.toLowerCase() === key.toLowerCase());
    const path = [...at.path, key];
    const schema = name === undefined ? undefined : shape[name];
    if (name === undefined || schema === undefined) {
      const near = nearest(key, names);
      const meant = near === undefined ? '' : `did you mean ${near}? `;
      const message = `is an unknown field; ${meant}known here: ${names.join(', ')}`;
      options.report({ path, message, kind: 'unknown-field' });
      continue;
    }
    if (name !== key) options.report({ path, message: `must be spelled ${name}`, kind: 'spelling' });
    // To Go a field that is null is absent, but a value of a map is then the zero value.
    if (value === null) continue;
    // The exact spelling wins over any other.
    if (name === key || !found.has(name)) found.set(name, conformValue(schema, { value, path }, options));
  }
  return Object.fromEntries(found);
};

const conformValue = (
  schema: z.core.$ZodType,
  at: { readonly value: unknown; readonly path: Path },
  options: Options,
): unknown => {
  const { value, path } = at;
  const known = inner(schema);
  if (value === null && !(known instanceof z.ZodString)) return undefined;
  if (known instanceof z.ZodObject && isObject(value)) return conformObject(known.shape, { value, path }, options);
  if (known instanceof z.ZodRecord && isObject(value)) {
    const entries = Object.entries(value).map(([key, item]) => {
      return [key, conformValue(known.valueType, { value: item, path: [...path, key] }, options)] as const;
    });
    return Object.fromEntries(entries);
  }
  if (known instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item: unknown, index) =>
      conformValue(known.element, { value: item, path: [...path, index] }, options),
    );
  }
  if (known instanceof z.ZodString) return conformText(value, path, options);
  if (known instanceof z.ZodBoolean && typeof value === 'string' && options.plainTextOf(path) !== undefined) {
    return yaml11Booleans.get(value.toLowerCase()) ?? value;
  }
  return value;
};

/**
 * Reads `value` as Go's `sigs.k8s.io/yaml` does, so that whatever the Go program accepted is understood: null counts as absent, the
 * name of a field matches in any case, and an unquoted `yes` is a boolean. Deviations name unknown and misspelled fields.
 */
export const conform = (schema: z.ZodType, value: unknown, plainTextOf: Options['plainTextOf']): Conformed => {
  const deviations: Deviation[] = [];
  const report = (deviation: Deviation): void => void deviations.push(deviation);
  return { value: conformValue(schema, { value, path: [] }, { plainTextOf, report }), deviations };
};
