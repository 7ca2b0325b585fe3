import type { ConfigProblem } from './rules/index.ts';
import type { z } from 'zod';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { type ConfigFormat, type LoadOptions, type LoadedConfig, loadConfig } from './load.ts';
import { checkFile } from './manifest.ts';

/** Reads and checks the configuration file of one component. `T` is the type of the component's settings. */
export interface ComponentConfig<T> extends Pick<ConfigFormat<z.ZodType, T>, 'component' | 'defaultText'> {
  /** Reads and checks a configuration, and fills in defaults. Never throws: all errors are in `problems`. */
  readonly load: (text: string, options: LoadOptions) => LoadedConfig<T>;
  /**
   * Returns all problems of a file: a configuration, a ConfigMap manifest (each key of its `data` is checked), or several manifests.
   * Unknown fields are errors. Never throws.
   */
  readonly check: (text: string) => readonly ConfigProblem[];
  /** Returns the JSON Schema for editors. */
  readonly jsonSchema: () => JsonSchema;
}

export const componentConfig = <S extends z.ZodType, T>(format: ConfigFormat<S, T>): ComponentConfig<T> => ({
  component: format.component,
  defaultText: format.defaultText,
  load: (text, options) => loadConfig(format, text, options),
  check: (text) => checkFile(format, text),
  jsonSchema: () => jsonSchemaOf(format),
});
