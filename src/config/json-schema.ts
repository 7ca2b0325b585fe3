import * as z from 'zod';
import type { ConfigFormat } from './load.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A component's configuration file, for editors: what `dwd validate` accepts in the fields' own spelling, as far as a schema can tell. It
 * cannot tell, for example, that each resource is listed only once. Nulls, which the program takes for absent, are not in it.
 */
export const jsonSchemaOf = <S extends z.ZodType, T>({ component, schema }: ConfigFormat<S, T>): JsonSchema => {
  const { $schema, ...rest } = z.toJSONSchema(schema(), {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodObject) jsonSchema.additionalProperties = false;
    },
  });
  return { $schema, title: `Configuration of dwd ${component}`, ...rest };
};
