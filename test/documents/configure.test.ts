import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { careConfig } from '../../src/care/config.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import type { JsonSchema } from '../../src/config/component-config.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { fieldTable, fillIn } from './configure.ts';
import { root } from './markdown.ts';

const file = `${root}docs/configure.md`;

const schemas = { prober: proberConfig.jsonSchema(), weeder: weederConfig.jsonSchema(), care: careConfig.jsonSchema() };

/** The document has one sentence about the first two fields of all components. */
const tableOf = (schema: JsonSchema): string => {
  const { apiVersion, kind, ...properties } = (schema.properties ?? {}) as Readonly<Record<string, object>>;
  expect([apiVersion, kind]).not.toContain(undefined);
  return fieldTable({ ...schema, properties });
};

const tables = new Map(Object.entries(schemas).map(([name, schema]) => [`fields of ${name}`, tableOf(schema)]));

describe('docs/configure.md', () => {
  const text = readFileSync(file, 'utf8');

  it('lists every field of the components; `make docs` updates it', async () => {
    await expect(fillIn(text, tables)).toMatchFileSnapshot(file);
  });

  it('has every table', () => {
    expect([...tables.keys()].filter((key) => !text.includes(`<!-- ${key} -->`))).toEqual([]);
  });
});

describe('a table', () => {
  it('lists the fields of objects, lists and maps below them', () => {
    const fields = fieldTable(weederConfig.jsonSchema());
    expect(fields).toContain('| `watchDuration` | `5m0s` | How long crash-looping pods');
    expect(fields).toContain(
      '| `servicesAndDependantSelectors.NAME.podSelectors` | list of label selectors, required |',
    );
    expect(fieldTable(proberConfig.jsonSchema())).toContain(
      '| `dependentResourceInfos[].ref` | `apiVersion`, `kind`, `name`, required | The resource.',
    );
  });
});
