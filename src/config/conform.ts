import { type ConfigFinding, type Path, nearest } from './rules/index.ts';
import * as z from 'zod';
import { isObject } from '../kubernetes/api/decode.ts';

/** A place where a configuration differs from its schema in a way that the Go program accepts. `path` ends with the key. */
export interface Deviation extends Omit<ConfigFinding, 'severity'> {
  /** The known field that has no value because of this: an unknown one most likely misspells it, or it is empty. */
  readonly meant?: string;
  /** Absent: that of unknown fields. */
  readonly severity?: 'warning';
}

export interface Conformed {
  /** The value in the form of the schema: without nulls and unknown keys, and with the schema's spelling of keys. */
  readonly value: unknown;
  readonly deviations: readonly Deviation[];
}

/** Unquoted words that are booleans in YAML 1.1, which the Go program reads. */
const yaml11Booleans: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'yes', 'on'].map((word) => [word, true] as const),
  ...['n', 'no', 'off'].map((word) => [word, false] as const),
]);

/** For these numbers, Go prints the shortest text: a float32 keeps six digits, and has no exponent below a million. */
const wholeNumber = /^(?:0|[1-9]\d{0,14})$/;
const decimalNumber = /^(?:0|[1-9]\d{0,5})\.\d{1,5}$/;
/** Length of six digits and the point. */
const longestDecimal = 7;

/**
 * Converts an unquoted scalar to text where the schema requires text, as `sigs.k8s.io/yaml` (convertToJSONableObject) does: `yes` becomes "true",
 * `1.10` becomes "1.1". Undefined for text, and for other forms of numbers, which are rejected.
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

/** Returns the shape of an object, also of one that a flag may be instead. */
const shapeOf = (schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | undefined => {
  if (schema instanceof z.ZodObject) return schema.shape;
  return schema instanceof z.ZodUnion ? schema.options.map(shapeOf).find((shape) => shape !== undefined) : undefined;
};

interface Options {
  /** Returns the text of an unquoted scalar exactly as written in the file; undefined for anything else. */
  readonly plainTextOf: (path: Path) => string | undefined;
  readonly report: (deviation: Deviation) => void;
}

const conformText = (value: unknown, path: Path, { plainTextOf, report }: Options): unknown => {
  const plain = plainTextOf(path);
  const text = plain === undefined ? undefined : asGoText(plain, value);
  if (text === undefined) return value;
  const message = `must be text in quotes: ${plain} is read as ${JSON.stringify(text)}`;
  report({ path, message });
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
      const meant = nearest(key, names);
      const advice = meant === undefined ? '' : `did you mean ${meant}? `;
      const message = `is an unknown field; ${advice}known fields: ${names.join(', ')}`;
      options.report({ path, message, aboutKey: true, meant });
      continue;
    }
    if (name !== key) options.report({ path, message: `must be spelled ${name}`, aboutKey: true });
    // Go treats a null field as absent, but a null value of a map as the zero value. A template may have lost the value.
    if (value === null) {
      const isRequired = inner(schema) === schema;
      if (!isRequired) {
        options.report({ path, message: 'is empty: it counts as absent', meant: name, severity: 'warning' });
      }
      continue;
    }
    // The exact spelling takes precedence.
    if (name === key || !found.has(name)) {
      found.set(name, conformValue(schema, { value, path: [...at.path, name] }, options));
    }
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
  const shape = shapeOf(known);
  if (shape !== undefined && isObject(value)) return conformObject(shape, { value, path }, options);
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
 * Interprets `value` as Go's `sigs.k8s.io/yaml` does, so that every file that the Go program accepted still works: null counts as absent, field
 * names match in any case, and an unquoted `yes` is a boolean. Deviations report unknown and misspelled fields.
 */
export const conform = (schema: z.ZodType, value: unknown, plainTextOf: Options['plainTextOf']): Conformed => {
  const deviations: Deviation[] = [];
  const report = (deviation: Deviation): void => void deviations.push(deviation);
  return { value: conformValue(schema, { value, path: [] }, { plainTextOf, report }), deviations };
};
