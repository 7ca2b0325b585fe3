import * as z from 'zod';
import type { ConfigFormat } from './load.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the schema of a component's configuration file, for editors. It describes what `dwd validate` accepts, with exact spelling and as far as a
 * schema can: it cannot require, for example, that each resource is listed only once. It does not allow nulls, which the program treats as absent.
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
