import { expect } from 'vitest';
import type { Api } from './api.ts';
import { expectObject } from './expectations.ts';
import type { Json } from './json.ts';

export const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export const getTable = async (api: Api, path: string, query: Readonly<Record<string, string>> = {}): Promise<Json> =>
  expectObject(await api.send('GET', path, { accept: asTable, query }));

/** `Name (name), Desired: integer, Node +wide`: what is said of each column, but for its description, and but for what most are. */
export const headerOf = ({ columnDefinitions }: Json): string =>
  (columnDefinitions ?? [])
    .map(({ name, type, format, priority }) => {
      const parts = [name, type === 'string' ? '' : `: ${type}`, format === '' ? '' : ` (${format})`];
      return [...parts, priority === 0 ? '' : ' +wide'].join('');
    })
    .join(', ');

/** The cells of the only row. */
export const cellsOf = ({ rows }: Json): readonly unknown[] => {
  expect(rows).toHaveLength(1);
  return rows[0]!.cells;
};

/** Of something that the case has made. */
export const recent: unknown = expect.stringMatching(/^\d+[sm]/);
