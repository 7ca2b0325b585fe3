import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toJSONSchema } from 'zod';
import type { JsonSchema } from '../../src/config/component-config.ts';
import { statusSchema } from '../../src/status/state/schema.ts';
import { fieldTable, fillIn } from './configure.ts';
import { root } from './markdown.ts';

const file = `${root}docs/dev/status-fields.md`;

/** Schema of GET /status. A field that may be null is shown with its other type; its description states when it is null. */
const schema = toJSONSchema(statusSchema, {
  io: 'output',
  override: ({ jsonSchema }) => {
    const [other] = jsonSchema.anyOf?.filter((one) => one.type !== 'null') ?? [];
    if (other !== undefined) Object.assign(jsonSchema, { ...other, description: jsonSchema.description });
    delete jsonSchema.anyOf;
    // Bounds that every safe integer satisfies are not worth showing.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
}) as JsonSchema;

it('docs/dev/status-fields.md lists every field of GET /status; `make docs` updates it', async () => {
  const table = fieldTable(schema);
  expect(table).toContain(
    '| `shoots[].held[].replicas` | whole number >= 1, required | Replicas that will be restored. |',
  );
  await expect(fillIn(readFileSync(file, 'utf8'), new Map([['fields of status', table]]))).toMatchFileSnapshot(file);
});
