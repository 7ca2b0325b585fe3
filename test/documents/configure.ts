import type { JsonSchema } from '../../src/config/component-config.ts';

// Builds the tables of docs/configure.md from the schemas.

interface Field {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Field[];
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  readonly items?: Field;
  readonly additionalProperties?: Field | boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
const code = (text: string): string => `\`${text}\``;

/** The part of a description that states the allowed durations. */
const duration = / ?Must be a duration .* with a unit, such as .*$/;

const bounds = ({ minimum, exclusiveMinimum, maximum }: Field): string =>
  [
    ...(minimum === undefined ? [] : [`>= ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`> ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [`<= ${maximum}`]),
  ].join(', ');

/** A LabelSelector of Kubernetes, whose fields need no table. */
const isSelector = ({ properties = {} }: Field): boolean => 'matchExpressions' in properties;

/** Fields of a reference to an object: the row of the reference names them. */
const ofReference = ['apiVersion', 'kind', 'name'];
const isReference = ({ properties = {} }: Field): boolean => ofReference.every((name) => name in properties);

/** The object that a flag may be instead. */
const objectIn = ({ anyOf = [] }: Field): Field | undefined => anyOf.find(({ properties }) => properties !== undefined);

const kindOf = (field: Field): string => {
  if (objectIn(field) !== undefined) return '`true`, `false`, or object';
  const { type, const: only, enum: choices, description = '', items, properties } = field;
  if (items !== undefined && isSelector(items)) return 'list of label selectors';
  if (only !== undefined) return code(only);
  if (choices !== undefined) return choices.map(code).join(', ');
  if (type === 'array') return items?.properties === undefined ? 'list of text' : 'list';
  if (isReference(field)) return ofReference.map(code).join(', ');
  if (properties !== undefined) return 'object';
  if (type === 'object') return 'map';
  if (type === 'integer') return `whole number ${bounds(field)}`;
  if (type === 'number') return `number ${bounds(field)}`;
  if (duration.test(description)) return 'duration';
  return type === 'string' ? 'text' : (type ?? 'text');
};

const defaultOf = ({ default: value }: Field): string => {
  if (value === undefined) return '';
  const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0;
  if (isEmpty) return Array.isArray(value) ? 'empty' : '';
  if (Array.isArray(value)) return `${value.length} items`;
  return code(typeof value === 'string' ? value : JSON.stringify(value));
};

/** The default, which shows the type of most fields, or the type. */
const valueOf = (field: Field, isRequired: boolean): string => {
  const kind = kindOf(field);
  const value = defaultOf(field);
  if (isRequired) return `${kind}, required`;
  if (value === '') return kind;
  return /^(?:duration|boolean|text|list|object)$/.test(kind) ? value : `${kind}; ${value}`;
};

/** Schema of the values of a map, of the items of a list, or of an object's fields, with the suffix of their paths. */
const within = (field: Field): readonly [suffix: string, inner: Field | undefined] => {
  const { items, additionalProperties, properties } = objectIn(field) ?? field;
  if (items !== undefined) return ['[].', isSelector(items) ? undefined : items];
  if (properties !== undefined) return ['.', { properties }];
  return ['.NAME.', typeof additionalProperties === 'object' ? additionalProperties : undefined];
};

const rowsOf = ({ properties = {}, required = [] }: Field, prefix: string): readonly (readonly string[])[] => {
  /** Names of the fields so far, by the text of the rows below them. */
  const listed = new Map<string, string>();
  const rowless = isReference({ properties }) ? ofReference : [];
  return Object.entries(properties).flatMap(([name, field]) => {
    if (rowless.includes(name)) return [];
    const path = `${prefix}${name}`;
    const about = (field.description ?? '').replace(duration, '');
    const [suffix, inner] = within(field);
    const own = [code(path), valueOf(field, required.includes(name))];
    if (inner === undefined) return [[...own, about]];
    const below = { ...inner, required: inner.required ?? field.required ?? [] };
    const text = JSON.stringify(rowsOf(below, suffix));
    const same = listed.get(text);
    if (same !== undefined) return [[...own, `${about} Its fields are those of ${code(same)}.`]];
    if (text !== '[]') listed.set(text, name);
    return [[...own, about], ...rowsOf(below, path + suffix)];
  });
};

/** Table of all fields of a configuration. The fields of an object follow below it, unless they are those of an earlier object beside it. */
export const fieldTable = (schema: JsonSchema): string =>
  table(['field', 'default, or type', 'meaning'], rowsOf(schema, ''));
