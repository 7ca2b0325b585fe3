import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { documentAt, documents, root } from './markdown.ts';

type Values = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges values as Helm does: maps by key, everything else as a whole. */
const merge = (under: Values, over: Values): Values => ({
  ...under,
  ...Object.fromEntries(
    Object.entries(over).map(([key, value]) => {
      const below = under[key];
      return [key, isMap(value) && isMap(below) ? merge(below, value) : value];
    }),
  ),
});

const objects: readonly Values[] = documents.flatMap((document) =>
  documentAt(document).yamls.flatMap((text) =>
    parseAllDocuments(text).map((parsed) => {
      expect(parsed.errors, document).toEqual([]);
      return parsed.toJS() as Values;
    }),
  ),
);

it('the values of the chart in documents are those that Helm accepts', () => {
  const valid = new Ajv().compile(JSON.parse(readFileSync(`${root}deploy/chart/values.schema.json`, 'utf8')) as object);
  const defaults = parse(readFileSync(`${root}deploy/chart/values.yaml`, 'utf8')) as Values;
  const values = objects.flatMap((object) => {
    const { spec } = object as { readonly spec?: Values };
    const { helm } = (spec?.source ?? {}) as { readonly helm?: { readonly valuesObject: Values } };
    const own = object.prober === undefined ? spec?.values : object;
    const found = own ?? helm?.valuesObject;
    return isMap(found) ? [found] : [];
  });
  expect(values.length).toBe(3);
  for (const each of values) expect([valid(merge(defaults, each)), valid.errors]).toEqual([true, null]);
  expect(valid(merge(defaults, { images: {} }))).toBe(false);
});
