import { getPath, type JsonMap } from '../object.ts';
import { sinceText } from './age.ts';

export type Cell = string | number | boolean | null;

/** What an object shows in one column, at `now` (milliseconds since the epoch). Bookmarks show an object that has nothing. */
export type CellOf = (object: Readonly<JsonMap>, now: number) => Cell;

/** A column of a Table (`TableColumnDefinition` in k8s.io/apimachinery/pkg/apis/meta/v1), and what goes into it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: '' | 'name';
  /** Above 0: only with `kubectl get -o wide`. */
  readonly priority: number;
  readonly cell: CellOf;
}

export const column = (name: string, cell: CellOf, type = 'string'): Column => ({
  name,
  type,
  format: '',
  priority: 0,
  cell,
});

export const wide = (name: string, cell: CellOf): Column => ({ ...column(name, cell), priority: 1 });

export const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** The text at `path`, or `absent` where there is none or an empty one. */
export const textAt =
  (path: readonly string[], absent = ''): CellOf =>
  (object) => {
    const value = getPath(object, path);
    return isScalar(value) && value !== '' ? String(value) : absent;
  };

export const countAt =
  (...path: readonly string[]): CellOf =>
  (object) => {
    const value = getPath(object, path);
    return typeof value === 'number' ? value : 0;
  };

export const nameColumn: Column = { ...column('Name', textAt(['metadata', 'name'])), format: 'name' };

export const ageColumn = column('Age', (object, now) =>
  sinceText(getPath(object, ['metadata', 'creationTimestamp']), now),
);
