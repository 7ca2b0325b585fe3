import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writtenAnnotations } from '../../src/annotations/scaling-annotations.ts';
import { careConfig } from '../../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../../src/care/rights.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import { type Grant, leaseGrants } from '../../src/process/rights/grants.ts';
import { weederGrants } from '../../src/weeder/component.ts';
import { fillIn, table } from './configure.ts';
import { root } from './markdown.ts';

const settingsOf = <T>({ settings }: { readonly settings?: T }): T => settings ?? expect.unreachable('not valid');
const options = { unknownFields: 'error' } as const;
const prober = settingsOf(proberConfig.load(proberConfig.defaultText, options));
const care = settingsOf(careConfig.load(careConfig.defaultText, options));

const code = (text: string): string => `\`${text}\``;

const rowOf = ({ group, resource, namespace, names = [], verbs, purpose }: Grant): readonly string[] => {
  const kind = code(`${resource}${group === '' ? '' : `.${group}`}`);
  const where = namespace === undefined ? kind : `${kind} in ${code(namespace)}`;
  return [where, names.map(code).join(', '), verbs.join(', '), purpose];
};

const grantTable = (grants: readonly Grant[]): string =>
  table(['resource', 'names', 'verbs', 'purpose'], grants.map(rowOf));

const plural = ({ kind }: { readonly kind: string }): string => `${kind.toLowerCase()}s`;
const leases = (component: string) => leaseGrants(`dwd-${component}-leader-election`, 'garden');

const tables = new Map([
  ['rights of prober', grantTable([...proberGrants(prober, plural), ...leases('prober')])],
  ['rights of prober in a shoot', grantTable(proberShootGrants)],
  ['rights of weeder', grantTable([...weederGrants, ...leases('weeder')])],
  ['rights of care', grantTable([...careGrants(care), ...leases('care')])],
  ['rights of care in the garden', grantTable(careGardenGrants)],
  ['rights of care in a shoot', grantTable(careShootGrants)],
]);

const file = `${root}docs/rights.md`;
const text = readFileSync(file, 'utf8');

it('docs/rights.md lists the rights of the components; `make docs` updates it', async () => {
  const places = /(<!-- (rights of [\w ]+) -->\n)[^]*?(<!-- end -->)/g;
  await expect(fillIn(text, tables, places)).toMatchFileSnapshot(file);
});

it('docs/rights.md has every table, and every annotation that the prober may write', () => {
  const places = [...tables.keys()].map((key) => `<!-- ${key} -->`);
  const annotations = writtenAnnotations.map(code);
  expect([...places, ...annotations].filter((each) => !text.includes(each))).toEqual([]);
});
