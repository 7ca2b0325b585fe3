import { z } from 'zod';
import type { Path } from './problem.ts';

/** What a configuration holds beyond its schema; `.path` is that of the key. */
export interface Deviation {
  readonly path: Path;
  readonly message: string;
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

const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? inner(schema.unwrap()) : schema;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Options {
  /** True for a scalar without quotes. */
  readonly isPlain: (path: Path) => boolean;
  readonly report: (deviation: Deviation) => void;
}

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
      options.report({ path, message: `is an unknown field; known here: ${names.join(', ')}` });
      continue;
    }
    if (name !== key) options.report({ path, message: `must be spelled ${name}` });
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
  if (value === null) return undefined;
  if (known instanceof z.ZodObject && isRecord(value)) return conformObject(known.shape, { value, path }, options);
  if (known instanceof z.ZodRecord && isRecord(value)) {
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
  if (known instanceof z.ZodBoolean && typeof value === 'string' && options.isPlain(path)) {
    return yaml11Booleans.get(value.toLowerCase()) ?? value;
  }
  return value;
};

/**
 * Reads `value` as Go's `sigs.k8s.io/yaml` does, so that whatever the Go program accepted is understood: null counts as absent, the
 * name of a field matches in any case, and an unquoted `yes` is a boolean. Deviations name unknown and misspelled fields.
 */
export const conform = (schema: z.ZodType, value: unknown, isPlain: (path: Path) => boolean): Conformed => {
  const deviations: Deviation[] = [];
  const report = (deviation: Deviation): void => void deviations.push(deviation);
  return { value: conformValue(schema, { value, path: [] }, { isPlain, report }), deviations };
};
