import { z } from 'zod';
import { proberSchema } from './prober-schema.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The prober's configuration file, for editors: what `dwd validate` accepts in the fields' own spelling, as far as a schema can tell. It
 * cannot tell that each resource is listed only once. Nulls, which the program takes for absent, are not in it.
 */
export const proberJsonSchema = (): JsonSchema => {
  const { $schema, ...rest } = z.toJSONSchema(proberSchema(), {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === 'object') jsonSchema.additionalProperties = false;
    },
  });
  return { $schema, title: 'Configuration of dwd prober', ...rest };
};
