import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Registry, registries } from '../monitoring/registries.ts';
import { root } from './markdown.ts';
import { fillMetrics, metricTables } from './metrics.ts';

const files = ['docs/metrics.md', 'docs/dev/health-checks.md'];
let known: Readonly<Record<string, Registry>>;
let tables: ReadonlyMap<string, string>;
beforeAll(async () => {
  known = await registries();
  tables = metricTables(known);
});

describe('the documents of the metrics', () => {
  const text = files.map((file) => readFileSync(root + file, 'utf8')).join('\n');

  it.each(files)('%s lists every metric of the registries; `make docs` updates it', async (file) => {
    await expect(fillMetrics(readFileSync(root + file, 'utf8'), tables)).toMatchFileSnapshot(root + file);
  });

  it('has every table', () => {
    expect([...tables.keys()].filter((key) => !text.includes(`<!-- ${key} -->`))).toEqual([]);
  });

  it('lists every metric once', () => {
    const names = new Set(Object.values(known).flatMap(({ metrics }) => metrics.map(({ name }) => name)));
    expect(names.size).toBeGreaterThan(50);
    const filled = fillMetrics(text, tables);
    for (const name of names) expect(filled.match(new RegExp(`^\\| \`${name}[\`{]`, 'gm')), name).toHaveLength(1);
  });
});
