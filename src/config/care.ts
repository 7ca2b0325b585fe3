import type { CareSettings } from '../domain/index.ts';
import { careFindings } from './care-rules.ts';
import { type CareConfig, careSchema } from './care-schema.ts';
import { typeFindings } from './type-meta.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { type ConfigFormat, type LoadedConfig, type LoadOptions, loadConfig } from './load.ts';
import { checkFile } from './manifest.ts';
import type { ConfigProblem } from './problem.ts';

const settingsFrom = (config: CareConfig): CareSettings => {
  const { staleExtensionHealthChecks: stale, managedResourceProgressingThreshold: progressing } = config;
  return {
    kubeConfigSecretName: config.kubeConfigSecretName,
    syncPeriodMs: config.syncPeriod,
    concurrentSyncs: config.concurrentSyncs,
    dependants: config.dependants,
    conditionThresholds: config.conditionThresholds.map(({ type, duration }) => ({ type, thresholdMs: duration })),
    ...(stale.enabled ? { staleExtensionThresholdMs: stale.threshold } : {}),
    ...(progressing === undefined ? {} : { progressingThresholdMs: progressing }),
    ...(config.allowInsecureShoots ? { allowInsecureShoots: true } : {}),
    legacyStatusLabels: config.legacyStatusLabels,
  };
};

const format: ConfigFormat<ReturnType<typeof careSchema>, CareSettings> = {
  component: 'care',
  schema: careSchema,
  findings: (value) => [...typeFindings('care', value), ...careFindings(value)],
  settingsFrom,
};

/** Reads, checks and completes the configuration of care. Never throws: everything that is wrong is in `problems`, all at once. */
export const loadCareConfig = (text: string, options: LoadOptions): LoadedConfig<CareSettings> =>
  loadConfig(format, text, options);

/**
 * Everything that is wrong with a configuration file of care: a plain one, or a ConfigMap manifest, each key of whose `data` is
 * checked. Unknown fields are errors. Never throws.
 */
export const checkCareFile = (text: string): readonly ConfigProblem[] => checkFile(format, text);

export const careJsonSchema = (): JsonSchema => jsonSchemaOf(format);
