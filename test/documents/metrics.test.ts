import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createMeter } from '../../src/telemetry/index.ts';
import { type Registry, registries } from '../monitoring/registries.ts';
import { scrapeOf } from '../monitoring/scrape.ts';
import { root } from './markdown.ts';
import { fillMetrics, metricTables, nodeTable, sizeTable } from './metrics.ts';

const file = `${root}docs/metrics.md`;
let known: Readonly<Record<string, Registry>>;
let tables: ReadonlyMap<string, string>;
beforeAll(async () => {
  known = await registries();
  const sizes = await Promise.all([10, 100, 1_000].map(async (shoots) => ({ shoots, text: await scrapeOf(shoots) })));
  tables = new Map([
    ...metricTables(known),
    ['metrics of Node', nodeTable(await createMeter().metricsText())],
    ['sizes', sizeTable(sizes)],
  ]);
});

describe('docs/metrics.md', () => {
  const text = readFileSync(file, 'utf8');

  it('lists every metric of the registries; `make docs` updates it', async () => {
    await expect(fillMetrics(text, tables)).toMatchFileSnapshot(file);
  });

  it('has every table', () => {
    expect([...tables.keys()].filter((key) => !text.includes(`<!-- ${key} -->`))).toEqual([]);
  });

  it('lists every metric once', () => {
    const names = new Set(Object.values(known).flatMap(({ metrics }) => metrics.map(({ name }) => name)));
    expect(names.size).toBeGreaterThan(50);
    for (const name of names) expect(text.split(`| \`${name}\` |`), name).toHaveLength(2);
  });
});
