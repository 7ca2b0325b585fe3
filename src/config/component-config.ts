import type { ConfigProblem } from './rules/index.ts';
import * as z from 'zod';
import { type ConfigFormat, type LoadOptions, type LoadedConfig, loadConfig } from './load.ts';
import { checkFile } from './manifest.ts';
import type { ComponentName } from './type-meta.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the schema of a component's configuration file, for editors. It describes what `dwd validate` accepts, with exact spelling and as far as a
 * schema can: it cannot require, for example, that each resource is listed only once. It does not allow nulls, which the program treats as absent.
 */
const jsonSchemaOf = <S extends z.ZodType, T>({ component, schema }: ConfigFormat<S, T>): JsonSchema => {
  const { $schema, ...rest } = z.toJSONSchema(schema(), {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodObject) jsonSchema.additionalProperties = false;
    },
  });
  return { $schema, title: `Configuration of dwd ${component}`, ...rest };
};

/** Reads and checks the configuration file of one component. `T` is the type of the component's settings. */
export interface ComponentConfig<T> extends Pick<ConfigFormat<z.ZodType, T>, 'component' | 'defaultText'> {
  /** Reads and checks a configuration, and fills in defaults. Never throws: all errors are in `problems`. */
  readonly load: (text: string, options: LoadOptions) => LoadedConfig<T>;
  /**
   * Returns all problems of a file: a configuration, or a ConfigMap manifest, each key of whose `data` is checked, as configuration of the component of `others`
   * that its `kind` names, else of this one. Unknown fields are errors. Never throws.
   */
  readonly check: (
    text: string,
    others?: Readonly<Partial<Record<ComponentName, ComponentConfig<unknown>>>>,
  ) => readonly ConfigProblem[];
  /** Returns the JSON Schema for editors. */
  readonly jsonSchema: () => JsonSchema;
}

export const componentConfig = <S extends z.ZodType, T>(format: ConfigFormat<S, T>): ComponentConfig<T> => ({
  component: format.component,
  defaultText: format.defaultText,
  load: (text, options) => loadConfig(format, text, options),
  check: (text, others) => checkFile(format, text, others),
  jsonSchema: () => jsonSchemaOf(format),
});
