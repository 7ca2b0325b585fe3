import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { heldAnnotation } from '../../src/annotations/held.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { careConfig } from '../../src/care/config.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import type { JsonSchema } from '../../src/config/component-config.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { registries } from '../monitoring/registries.ts';
import { fieldTable } from './configure.ts';
import { root } from './markdown.ts';
import { metricTables } from './metrics.ts';
import { rightsTables } from './rights.ts';

/** The document has one sentence about the first two fields of all components. */
const fieldsOf = (schema: JsonSchema): string => {
  const { apiVersion, kind, ...properties } = (schema.properties ?? {}) as Readonly<Record<string, object>>;
  expect([apiVersion, kind]).not.toContain(undefined);
  return fieldTable({ ...schema, properties });
};

const tables: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ prober: proberConfig, weeder: weederConfig, care: careConfig }).map(
    ([name, config]) => [`fields of ${name}`, fieldsOf(config.jsonSchema())] as const,
  ),
  ...metricTables(await registries()),
  ...rightsTables,
]);

const files = ['docs/configure.md', 'docs/metrics.md', 'docs/rights.md', 'docs/dev/health-checks.md'];
const read = (file: string): string => readFileSync(root + file, 'utf8');
const places = /(<!-- (\w+ of [\w ]+) -->\n)[^]*?(<!-- end -->)/g;

it.each(files)('the tables of %s are those of the code; `make docs` updates them', async (file) => {
  const filled = read(file).replaceAll(places, (_, begin: string, key: string, end: string) => {
    const table = tables.get(key) ?? expect.unreachable(`there is no table of ${key}`);
    return `${begin}\n${table}\n\n${end}`;
  });
  await expect(filled).toMatchFileSnapshot(root + file);
});

it('every table has one place, and docs/concepts.md every annotation that the prober may write', () => {
  const keys = files.flatMap((file) => Array.from(read(file).matchAll(places), ([, , key]) => key));
  expect(keys.toSorted()).toEqual([...tables.keys()].toSorted());
  const annotations = [meltdownProtectionAnnotation, heldAnnotation, replicasAnnotation];
  const concepts = read('docs/concepts.md');
  expect(annotations.filter((each) => !concepts.includes(`\`${each.replace(/.*\//, '')}`))).toEqual([]);
});
