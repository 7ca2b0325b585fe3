import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { heldAnnotation } from '../../src/annotations/held.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { careConfig } from '../../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../../src/care/rights.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import type { Grant } from '../../src/process/rights/grants.ts';
import { weederGrants } from '../../src/weeder/component.ts';
import { fillIn, table } from './configure.ts';
import { root } from './markdown.ts';

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

const tables = new Map([
  ['rights of prober', grantTable(proberGrants(prober, plural))],
  ['rights of prober in a shoot', grantTable(proberShootGrants)],
  ['rights of weeder', grantTable(weederGrants)],
  ['rights of care', grantTable(careGrants(care))],
  ['rights of care in the garden', grantTable(careGardenGrants)],
  ['rights of care in a shoot', grantTable(careShootGrants)],
]);

const file = `${root}docs/rights.md`;
const text = readFileSync(file, 'utf8');

it('docs/rights.md lists the rights of the components; `make docs` updates it', async () => {
  const places = /(<!-- (rights of [\w ]+) -->\n)[^]*?(<!-- end -->)/g;
  await expect(fillIn(text, tables, places)).toMatchFileSnapshot(file);
});

it('docs/rights.md has every table, and docs/concepts.md every annotation that the prober may write', () => {
  const places = [...tables.keys()].map((key) => `<!-- ${key} -->`);
  const written = [meltdownProtectionAnnotation, heldAnnotation, replicasAnnotation];
  const annotations = written.map((annotation) => `\`${annotation.replace(/.*\//, '')}`);
  const concepts = readFileSync(`${root}docs/concepts.md`, 'utf8');
  expect(places.filter((each) => !text.includes(each))).toEqual([]);
  expect(annotations.filter((each) => !concepts.includes(each))).toEqual([]);
});
