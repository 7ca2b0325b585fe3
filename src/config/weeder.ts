import type { WeederSettings } from '../domain/index.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { type ConfigFormat, type LoadedConfig, type LoadOptions, loadConfig } from './load.ts';
import { checkFile } from './manifest.ts';
import type { ConfigProblem } from './problem.ts';
import { weederFindings } from './weeder-rules.ts';
import { type WeederConfig, weederSchema } from './weeder-schema.ts';
import { typeFindings } from './type-meta.ts';

const settingsFrom = (config: WeederConfig): WeederSettings => ({
  watchDurationMs: config.watchDuration,
  services: Object.entries(config.servicesAndDependantSelectors).map(([name, { podSelectors }]) => ({
    name,
    podSelectors,
  })),
});

const format: ConfigFormat<ReturnType<typeof weederSchema>, WeederSettings> = {
  component: 'weeder',
  schema: weederSchema,
  findings: (value) => [...typeFindings('weeder', value), ...weederFindings(value)],
  settingsFrom,
};

/** Reads, checks and completes the weeder's configuration. Never throws: everything that is wrong is in `problems`, all at once. */
export const loadWeederConfig = (text: string, options: LoadOptions): LoadedConfig<WeederSettings> =>
  loadConfig(format, text, options);

/**
 * Everything that is wrong with a weeder configuration file: a plain one, or a ConfigMap manifest, each key of whose `data` is
 * checked. Unknown fields are errors. Never throws.
 */
export const checkWeederFile = (text: string): readonly ConfigProblem[] => checkFile(format, text);

export const weederJsonSchema = (): JsonSchema => jsonSchemaOf(format);
