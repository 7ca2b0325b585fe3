import { type Entry, entryText, type Form } from '../entry.ts';
import { apiVersionOf, type ScalePaths, type SimKind } from '../kind.ts';
import type { JsonMap } from '../object.ts';
import { scaleOf } from '../scale.ts';
import { badRequest } from '../status.ts';
import type { Column } from './column.ts';
import { columnsOf, scaleColumns } from './columns.ts';
import { podConditions } from './pod-cells.ts';

const inclusions = ['None', 'Metadata', 'Object'] as const;

/** Answers as `kubectl get` asks for them: objects as rows of text. */
export interface TableForm {
  /** What comes with the cells of a row. */
  readonly include: (typeof inclusions)[number];
  /** Milliseconds since the epoch: the cells tell ages. */
  readonly now: () => number;
}

/** How an answer shows objects. */
export type View = Form | TableForm;

export const isTable = (view: View): view is TableForm => typeof view === 'object';

/** Throws a BadRequest StatusError for what `includeObject` cannot be (`ValidateTableOptions` in k8s.io/apimachinery). */
export const tableForm = (includeObject: string, now: () => number): TableForm => {
  const include = inclusions.find((known) => known === (includeObject === '' ? 'Metadata' : includeObject));
  if (include !== undefined) return { include, now };
  const problem = `includeObject: Invalid value: "${includeObject}": must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${problem}`);
};

interface Row {
  readonly object: Readonly<JsonMap>;
  /** Of `object`, as the form includes it. */
  readonly text: string;
}

interface Content {
  readonly columns: readonly Column[];
  readonly metadata: object;
  readonly rows: readonly Row[];
  readonly now: number;
  /** False: without the columns' definitions, as in all events of a watch but the first. */
  readonly headed: boolean;
}

const rowText = ({ columns, now }: Content, { object, text }: Row): string => {
  const conditions = podConditions(object);
  const cells = JSON.stringify(columns.map(({ cell }) => cell(object, now)));
  return `{"cells":${cells},${conditions.length === 0 ? '' : `"conditions":${JSON.stringify(conditions)},`}"object":${text}}`;
};

/** The descriptions of columns are left empty: nothing but `kubectl explain` shows such texts, and that reads others. */
const definitionOf = ({ name, type, format, priority }: Column): JsonMap => ({
  name,
  type,
  format,
  description: '',
  priority,
});

/** `metav1.Table`; https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables */
const tableText = (content: Content): string => {
  const { columns, metadata, rows, headed } = content;
  const columnDefinitions = headed ? columns.map(definitionOf) : null;
  const head = JSON.stringify({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions }).slice(
    0,
    -1,
  );
  return `${head},"rows":[${rows.map((row) => rowText(content, row)).join(',')}]}`;
};

const included = (entry: Entry, { include }: TableForm): string => {
  if (include === 'None') return 'null';
  return entryText(entry, include === 'Metadata' ? 'metadata' : 'object');
};

export interface TableList {
  readonly kind: SimKind;
  /** Of the list. */
  readonly metadata: object;
  readonly entries: readonly Entry[];
}

export const listTable = ({ kind, metadata, entries }: TableList, form: TableForm): string => {
  // A continue that is empty is there in lists of custom kinds, but not in their Tables.
  const { continue: token, ...rest } = metadata as { readonly continue?: string };
  return tableText({
    columns: columnsOf(kind),
    metadata: token ? { ...rest, continue: token } : rest,
    rows: entries.map((entry) => ({ object: entry.object, text: included(entry, form) })),
    now: form.now(),
    headed: true,
  });
};

/** A Table of one row. */
export const objectTable = (entry: Entry, form: TableForm, headed = true): string =>
  tableText({
    columns: columnsOf(entry.kind),
    metadata: { resourceVersion: entry.object.metadata.resourceVersion },
    rows: [{ object: entry.object, text: included(entry, form) }],
    now: form.now(),
    headed,
  });

/** What a bookmark looks like: an object that has nothing but `metadata`. */
export const bookmarkTable = (
  bookmark: { readonly kind: SimKind; readonly metadata: JsonMap },
  form: TableForm,
  headed: boolean,
): string => {
  const { kind, metadata } = bookmark;
  const { resourceVersion, annotations } = metadata;
  const isInitial = annotations !== undefined;
  const whole = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata };
  const partial = {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion, annotations },
  };
  const shown = form.include === 'Object' ? whole : form.include === 'Metadata' || isInitial ? partial : null;
  return tableText({
    columns: columnsOf(kind),
    metadata: { resourceVersion },
    rows: [{ object: {}, text: JSON.stringify(shown) }],
    now: form.now(),
    headed,
  });
};

/** The body of an answer that shows the Scale of an object. */
export const scaleText = (entry: Entry, paths: ScalePaths, view: View): string => {
  const scale = scaleOf(entry, paths);
  if (!isTable(view)) return JSON.stringify(scale);
  const { metadata } = scale;
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  const shown = view.include === 'None' ? null : view.include === 'Object' ? scale : partial;
  return tableText({
    columns: scaleColumns(entry.kind),
    metadata: { resourceVersion: entry.object.metadata.resourceVersion },
    rows: [{ object: scale, text: JSON.stringify(shown) }],
    now: view.now(),
    headed: true,
  });
};

/** The body of an answer that shows one object, in JSON. */
export const viewText = (entry: Entry, view: View): string =>
  isTable(view) ? objectTable(entry, view) : entryText(entry, view);
