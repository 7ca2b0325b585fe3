import type { SimKind } from './kind.ts';
import { getPath, type SimObject } from './object.ts';
import { badRequest } from './status.ts';

export type ObjectMatcher = (object: SimObject) => boolean;

export interface FieldSelector {
  readonly matches: ObjectMatcher;
  /** The one name that can match, where the selector asks for `metadata.name=...`: lists need not look further. */
  readonly name?: string;
}

interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

// The grammar is that of k8s.io/apimachinery/pkg/fields/selector.go: commas and =, ==, != and backslash escapes.
const parseTerm = (text: string): FieldTerm => {
  const match = /^(?<field>(?:\\.|[^\\=!])*)(?<operator>!=|==|=)(?<value>.*)$/s.exec(text);
  if (match?.groups === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  const { field = '', operator, value = '' } = match.groups;
  return { field, equal: operator !== '!=', value: value.replace(/\\([\\,=])/g, '$1') };
};

const metadataFields: Readonly<Record<string, readonly string[]>> = {
  'metadata.name': ['metadata', 'name'],
  'metadata.namespace': ['metadata', 'namespace'],
};

const unsupported = (kind: SimKind, field: string): Error => {
  const known = Object.keys(kind.fields).length > 0;
  const only = '"metadata.name", "metadata.namespace"';
  return badRequest(
    known || kind.custom
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only ${only}`,
  );
};

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Booleans are compared as the real server does: absent is false. */
const emptyValue = (field: string): string => (/unschedulable|hostNetwork/.test(field) ? 'false' : '');

/** Compiles a `fieldSelector`; throws a BadRequest StatusError for a field that `kind` does not support. */
export const parseFieldSelector = (kind: SimKind, text: string): FieldSelector => {
  const terms = text
    .split(/(?<!\\),/)
    .filter((part) => part !== '')
    .map(parseTerm);
  const matchers = terms.map(({ field, equal, value }): ObjectMatcher => {
    const path = metadataFields[field] ?? kind.fields[field];
    if (path === undefined) throw unsupported(kind, field);
    const empty = emptyValue(field);
    return (object) => ((textOf(getPath(object, path)) || empty) === value) === equal;
  });
  const name = terms.find((term) => term.field === 'metadata.name' && term.equal)?.value;
  return {
    matches: (object) => matchers.every((matches) => matches(object)),
    ...(name === undefined ? {} : { name }),
  };
};
