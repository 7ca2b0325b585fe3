import { isLabelKey, isLabelValue } from '../../kubernetes/api/label-selectors.ts';
import type { FlagType } from '../flag-types.ts';

/** Type of a key of `--set` that is also a value of the chart. The chart's value has the form that `parse` returns, and `schema` validates it. */
export interface ValueType<T> extends FlagType<T> {
  /** JSON Schema of the parsed value. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export const withSchema = <T>(type: FlagType<T>, schema: ValueType<T>['schema']): ValueType<T> => ({ ...type, schema });

/** A text that must match the pattern as a whole. */
const matching = (type: Pick<ValueType<string>, 'placeholder' | 'takes'>, whole: RegExp): ValueType<string> => ({
  ...type,
  schema: { type: 'string', pattern: whole.source },
  parse: (value) => (whole.test(value) ? { value } : undefined),
});

const objectNamePattern = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

export const objectName = (what: string): ValueType<string> =>
  matching(
    { placeholder: 'name', takes: `the name of a ${what}, or nothing` },
    /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$/,
  );

export const cpu = matching(
  { placeholder: 'cpu', takes: 'an amount of CPU such as 100m or 0.5' },
  /^[0-9]+(\.[0-9]{1,3})?$|^[0-9]+m$/,
);

export const seconds = matching({ placeholder: 'duration', takes: 'a time such as 30s or 1m' }, /^[1-9][0-9]*[sm]$/);

/**
 * Prefix of names that must be DNS labels, such as a Service's name: they begin with a letter and have at most 63 characters. The longest name adds
 * 13 characters.
 */
export const namePrefix = matching(
  { placeholder: 'prefix', takes: 'at most 40 lower case letters, digits and "-", the first of them a letter' },
  /^[a-z][a-z0-9-]{0,39}$/,
);

const entries = (text: string): readonly string[] => (text === '' ? [] : text.split(','));

export const labels: ValueType<Readonly<Record<string, string>>> = {
  placeholder: 'labels',
  takes: 'labels such as tier=system,zone=a',
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  parse: (text) => {
    const pairs = entries(text).map(
      (entry) => [entry.split('=')[0] ?? '', entry.split('=').slice(1).join('=')] as const,
    );
    const isValid =
      entries(text).every((entry) => entry.includes('=')) &&
      pairs.every(([key, value]) => isLabelKey(key) && isLabelValue(value));
    return isValid ? { value: Object.fromEntries(pairs) } : undefined;
  },
};

export interface LocalObjectReference {
  readonly name: string;
}

export const secretNames: ValueType<readonly LocalObjectReference[]> = {
  placeholder: 'names',
  takes: 'names of Secrets, separated by commas',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: { type: 'string', pattern: objectNamePattern.source } },
    },
  },
  parse: (text) => {
    const names = entries(text);
    return names.every((one) => objectNamePattern.test(one))
      ? { value: names.map((one) => ({ name: one })) }
      : undefined;
  },
};

export interface NetworkPolicyPort {
  readonly protocol: 'TCP';
  /** Port number; if absent, all ports. */
  readonly port?: number;
}

export const tcpPorts: ValueType<readonly NetworkPolicyPort[]> = {
  placeholder: 'ports',
  takes: 'TCP ports, separated by commas, such as 443,6443; or all',
  schema: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['protocol'],
      additionalProperties: false,
      properties: { protocol: { const: 'TCP' }, port: { type: 'integer', minimum: 1, maximum: 65_535 } },
    },
  },
  parse: (text) => {
    if (text === 'all') return { value: [{ protocol: 'TCP' }] };
    const ports = text.split(',');
    const isValid = ports.every((port) => /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535);
    return isValid ? { value: ports.map((port) => ({ protocol: 'TCP', port: Number(port) })) } : undefined;
  },
};

const actions = ['Deny', 'Warn', 'Audit'];

/** Actions of a ValidatingAdmissionPolicyBinding, which does not accept Deny and Warn together. */
export const validationActions: ValueType<readonly string[]> = {
  placeholder: 'actions',
  takes: 'Deny, Audit, Warn, or two of them with a comma between, but not Deny and Warn; or nothing',
  schema: {
    ...{ type: 'array', items: { enum: actions }, uniqueItems: true, maxItems: 2 },
    not: { allOf: [{ contains: { const: 'Deny' } }, { contains: { const: 'Warn' } }] },
  },
  parse: (text) => {
    const chosen = entries(text);
    const isValid =
      chosen.every((action) => actions.includes(action)) &&
      new Set(chosen).size === chosen.length &&
      !(chosen.includes('Deny') && chosen.includes('Warn'));
    return isValid ? { value: chosen } : undefined;
  },
};

const tolerationFields: Readonly<Record<string, string>> = {
  key: 'string',
  operator: 'string',
  value: 'string',
  effect: 'string',
  tolerationSeconds: 'integer',
};

const isToleration = (value: unknown): value is Toleration =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(([key, field]) =>
    tolerationFields[key] === 'integer' ? Number.isSafeInteger(field) : tolerationFields[key] === typeof field,
  );

export type Toleration = Readonly<Record<string, string | number>>;

export const tolerations: ValueType<readonly Toleration[]> = {
  placeholder: 'json',
  takes: 'a JSON list of tolerations such as [{"key":"infra","operator":"Exists"}]',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(Object.entries(tolerationFields).map(([key, type]) => [key, { type }])),
    },
  },
  parse: (text) => {
    try {
      const value: unknown = JSON.parse(text);
      return Array.isArray(value) && value.every(isToleration) ? { value } : undefined;
    } catch {
      return undefined;
    }
  },
};
