import * as z from 'zod';
import { parseGoDuration } from '../kubernetes/api/duration.ts';
import { labelKeyPattern, labelValuePattern } from '../kubernetes/api/label-selectors.ts';

/** Formats a value for a message. */
export const show = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return shown.length > 60 ? `${shown.slice(0, 60)}...` : shown;
};

/** Builds the message of a field, which always names the allowed values, so that operators need not consult the documentation. */
const expecting = (expected: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `is required: ${expected}` : `must be ${expected}, found ${show(input)}`,
});

/** RFC 1123 subdomain, the syntax of Secret names (`IsDNS1123Subdomain` of k8s.io/apimachinery). */
const subdomain = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

export const secretNameWords = 'the name of a Secret (lower-case letters, digits, "-" and "."; at most 253 characters)';

export const secretName = () => {
  const message = expecting(secretNameWords);
  return z.string(message).regex(subdomain, message);
};

/** Key of a Secret's data (`IsConfigMapKey` of k8s.io/apimachinery). */
export const secretKey = () => {
  const message = expecting('a key of a Secret (letters, digits, "-", "_" and "."; at most 253 characters)');
  return z.string(message).regex(/^(?!\.\.)(?!\.$)[-._a-zA-Z0-9]{1,253}$/, message);
};

export const labelKeyWords =
  'a label key (at most 63 letters, digits, "-", "_" and "."; a DNS subdomain and "/" may come first)';

export const labelKey = () => {
  const message = expecting(labelKeyWords);
  return z.string(message).regex(labelKeyPattern, message);
};

export const labelValue = () => {
  const message = expecting(
    'a label value (at most 63 letters, digits, "-", "_" and "."; in quotes where it reads as a number or a boolean)',
  );
  return z.string(message).regex(labelValuePattern, message);
};

export const nonEmptyText = (example: string) => {
  const message = expecting(`text that is not empty, such as ${example}`);
  return z.string(message).min(1, message);
};

/** Reference to an object by `apiVersion`, `kind` and `name`. The parameter `name` is an example for the help text. */
export const resourceRef = (name: string) =>
  object('an object with apiVersion, kind and name', {
    apiVersion: about('Group and version, such as apps/v1.', nonEmptyText('apps/v1')),
    kind: about('Such as Deployment.', nonEmptyText('Deployment')),
    name: about(`Such as ${name}.`, nonEmptyText(name)),
  });

/** A fixed text. Only the JSON Schema requires it; zod accepts any text, because typeFindings reports other texts with the right severity. */
export const exactly = (text: string) => z.string(expecting(`the text ${text}`)).meta({ const: text });

/** Bounds of a number: `words` for messages, `keywords` for JSON Schema. */
interface Range {
  readonly words: string;
  readonly holds: (value: number) => boolean;
  readonly keywords: Readonly<Record<string, number>>;
}

export const positive: Range = { words: '> 0', holds: (value) => value > 0, keywords: { exclusiveMinimum: 0 } };
export const atLeast = (minimum: number): Range => ({
  words: `>= ${minimum}`,
  holds: (value) => value >= minimum,
  keywords: { minimum },
});
export const fraction: Range = {
  words: '> 0 and <= 1',
  holds: (value) => value > 0 && value <= 1,
  keywords: { exclusiveMinimum: 0, maximum: 1 },
};

export const number = (range: Range) => {
  const message = expecting(`a number ${range.words}`);
  return z.number(message).refine(range.holds, message).meta(range.keywords);
};

export const integer = (range: Range) => {
  const message = expecting(`a whole number ${range.words}`);
  return z
    .number(message)
    .refine((value) => Number.isSafeInteger(value) && range.holds(value), message)
    .meta({ ...range.keywords, type: 'integer' });
};

export const boolean = () => z.boolean(expecting('true or false'));

/** `true` or `false`, or an object, which says more than `true`. */
export const flagOr = <T extends z.ZodRawShape>(expected: string, shape: T) => {
  const message = expecting(`true, false or ${expected}`);
  return z.union([z.boolean(), z.object(shape, message)], message);
};

/** A time, as text of this form that `parse` can read. */
export const time = (form: RegExp, parse: (text: string) => number | undefined) => {
  const message = expecting('a time such as 2026-01-01T00:00:00Z');
  return z
    .string(message)
    .regex(form, message)
    .refine((text) => !form.test(text) || parse(text) !== undefined, message);
};

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, expecting(`one of ${values.join(', ')}`));

/** JSON Schema keywords for editors. A pattern cannot do arithmetic: only the check itself finds, for example, that `0.1ns` is 0. */
const durationKeywords = (isZeroAllowed: boolean) => {
  const text = String.raw`\+?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$`;
  return isZeroAllowed
    ? { anyOf: [{ type: 'string', pattern: String.raw`^[-+]?0$|^${text}` }, { const: 0 }] }
    : { anyOf: [{ type: 'string', pattern: `^(?=.*[1-9])${text}` }] };
};

/** A duration in Go's syntax, converted to milliseconds. The number 0 needs no unit. */
export const duration = (range: Range) => {
  const expected = `a duration ${range.words} with a unit, such as 30s or 1m30s`;
  const message = expecting(expected);
  return z
    .union([z.string(), z.literal(0)], message)
    .transform((value, context) => {
      const parsed = parseGoDuration(String(value));
      if (parsed.ok && range.holds(parsed.value)) return parsed.value;
      const found = parsed.ok ? '' : `, which ${parsed.error}`;
      context.addIssue({ code: 'custom', message: `must be ${expected}, found ${show(value)}${found}` });
      return z.NEVER;
    })
    .meta({ ...durationKeywords(range.holds(0)), description: `Must be ${expected}.` });
};

/** Adds a description of the field's purpose to `schema`. */
export const about = <T extends z.ZodType>(what: string, schema: T): T => {
  const allowed = schema.meta()?.description;
  return schema.meta({ ...schema.meta(), description: allowed === undefined ? what : `${what} ${allowed}` });
};

export const allowInsecureShoots = () =>
  about(
    'True if the kubeconfig of a shoot may name an http:// server, whose traffic anybody on the path can change.',
    boolean(),
  ).prefault(false);

export const object = <T extends z.ZodRawShape>(expected: string, shape: T) => z.object(shape, expecting(expected));

export const listOf = <T extends z.ZodType>(expected: string, item: T) => {
  const message = expecting(expected);
  return z.array(item, message).min(1, message);
};

export const anyListOf = <T extends z.ZodType>(expected: string, item: T) => z.array(item, expecting(expected));

interface MapParts<T> {
  /** Pattern of the keys, for editors only. A component's rules check the keys, because zod silently ignores a key `__proto__`. */
  readonly keys: RegExp;
  readonly values: T;
  readonly minEntries: number;
}

export const mapOf = <T extends z.ZodType>(expected: string, { keys, values, minEntries }: MapParts<T>) =>
  z
    .record(z.string().meta({ pattern: keys.source }), values, expecting(expected))
    .refine((map) => Object.keys(map).length >= minEntries, { error: `must be ${expected}, found an empty one` })
    .meta({ minProperties: minEntries });
