import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { careConfig } from '../../src/care/config.ts';
import { processFlags } from '../../src/cli/process-flags.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { commands } from './commands.ts';
import { fieldTable, fillIn, flagTable } from './configure.ts';
import { root } from './markdown.ts';

const file = `${root}docs/configure.md`;

const named = (name: string) => commands.find((one) => one.name === name) ?? expect.unreachable(`no command ${name}`);
const schemas = { prober: proberConfig.jsonSchema(), weeder: weederConfig.jsonSchema(), care: careConfig.jsonSchema() };
const shared = Object.keys(processFlags);
const isOwn = (name: string): boolean => !shared.includes(name);
const tables = new Map([
  ...Object.entries(schemas).map(([name, schema]) => [`fields of ${name}`, fieldTable(schema)] as const),
  ['flags of every component', flagTable(named('weeder'))],
  ...['prober', 'care']
    .filter((name) => Object.keys(named(name).flags).some(isOwn))
    .map((name) => [`flags of ${name}`, flagTable(named(name), shared)] as const),
]);

describe('docs/configure.md', () => {
  const text = readFileSync(file, 'utf8');

  it('lists every field and every flag of the components; `make docs` updates it', async () => {
    await expect(fillIn(text, tables)).toMatchFileSnapshot(file);
  });

  it('has every table', () => {
    expect([...tables.keys()].filter((key) => !text.includes(`<!-- ${key} -->`))).toEqual([]);
  });

  it('lists flags as those of every component only if every component has them', () => {
    expect(Object.keys(named('prober').flags)).toEqual(expect.arrayContaining(shared));
    expect(Object.keys(named('weeder').flags)).toEqual(shared);
  });
});

describe('a table', () => {
  it('lists the fields of objects, lists and maps below them', () => {
    const fields = fieldTable(weederConfig.jsonSchema());
    expect(fields).toContain('| `watchDuration` | duration > 0 | `5m0s` | How long crash-looping pods');
    expect(fields).toContain(
      '| `servicesAndDependantSelectors.NAME.podSelectors[].matchExpressions[].operator` | `In`, ',
    );
    expect(fieldTable(proberConfig.jsonSchema())).toContain(
      '| `dependentResourceInfos[].ref.name` | text | required |',
    );
  });
});
