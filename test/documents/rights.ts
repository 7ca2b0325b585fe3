import { expect } from 'vitest';
import { careConfig } from '../../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../../src/care/rights.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import type { Grant } from '../../src/process/rights/grants.ts';
import { weederGrants } from '../../src/weeder/component.ts';
import { table } from './configure.ts';

// Builds the tables of docs/rights.md from the rights that the components declare.

const settingsOf = <T>({ settings }: { readonly settings?: T }): T => settings ?? expect.unreachable('not valid');
const options = { unknownFields: 'error' } as const;
const prober = settingsOf(proberConfig.load(proberConfig.defaultText, options));
const care = settingsOf(careConfig.load(careConfig.defaultText, options));

const code = (text: string): string => `\`${text}\``;

const columns = ['resource', 'names', 'verbs', 'purpose'] as const;

type Column = (typeof columns)[number];

/** What the cells of a row list. */
type Row = Readonly<Record<Column, readonly string[]>>;

const rowOf = ({ group, resource, namespace, names = [], verbs, purpose }: Grant): Row => {
  const kind = code(`${resource}${group === '' ? '' : `.${group}`}`);
  const where = namespace === undefined ? kind : `${kind} in ${code(namespace)}`;
  return { resource: [where], names: names.map(code), verbs, purpose: [purpose] };
};

const union = (a: Row, b: Row): Row => {
  const of = (column: Column): readonly string[] => [...new Set([...a[column], ...b[column]])];
  return { resource: of('resource'), names: of('names'), verbs: of('verbs'), purpose: of('purpose') };
};

/** Unites each row with the first one that is the same in these columns. */
const unite = (rows: readonly Row[], same: readonly Column[]): readonly Row[] => {
  const byCells = Map.groupBy(rows, (row) => same.map((column) => row[column].join()).join('|'));
  return [...byCells.values()].map((group) => group.reduce(union));
};

/** One row for each purpose, as far as every resource of a row has all its names and verbs. */
const grantTable = (grants: readonly Grant[]): string => {
  const ofOneObject = unite(grants.map(rowOf), ['resource', 'names']);
  const ofOneResource = unite(ofOneObject, ['resource', 'verbs', 'purpose']);
  const rows = unite(ofOneResource, ['names', 'verbs', 'purpose']);
  return table(
    columns,
    rows.map((row) => columns.map((column) => row[column].join(column === 'purpose' ? ', and ' : ', '))),
  );
};

const plural = ({ kind }: { readonly kind: string }): string => `${kind.toLowerCase()}s`;

export const rightsTables: ReadonlyMap<string, string> = new Map([
  ['rights of prober', grantTable(proberGrants(prober, plural))],
  ['rights of prober in a shoot', grantTable(proberShootGrants)],
  ['rights of weeder', grantTable(weederGrants)],
  ['rights of care', grantTable(careGrants(care))],
  ['rights of care in the garden', grantTable(careGardenGrants)],
  ['rights of care in a shoot', grantTable(careShootGrants)],
]);
