import type { ConfigProblem } from './rules/index.ts';
import type { z } from 'zod';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { type ConfigFormat, type LoadOptions, type LoadedConfig, loadConfig } from './load.ts';
import { checkFile } from './manifest.ts';

/** The configuration file of one component, whose settings are `T`. */
export interface ComponentConfig<T> extends Pick<ConfigFormat<z.ZodType, T>, 'component' | 'defaultText'> {
  /** Reads, checks and completes a configuration. Never throws: everything that is wrong is in `problems`, all at once. */
  readonly load: (text: string, options: LoadOptions) => LoadedConfig<T>;
  /**
   * Everything that is wrong with a file: a configuration, a ConfigMap manifest, each key of whose `data` is checked, or several manifests.
   * Unknown fields are errors. Never throws.
   */
  readonly check: (text: string) => readonly ConfigProblem[];
  /** For editors. */
  readonly jsonSchema: () => JsonSchema;
}

export const componentConfig = <S extends z.ZodType, T>(format: ConfigFormat<S, T>): ComponentConfig<T> => ({
  component: format.component,
  defaultText: format.defaultText,
  load: (text, options) => loadConfig(format, text, options),
  check: (text) => checkFile(format, text),
  jsonSchema: () => jsonSchemaOf(format),
});
