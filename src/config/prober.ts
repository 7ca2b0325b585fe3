import {
  adviceOn,
  type DependentResource,
  type ExternalProbeSettings,
  type ProberSettings,
  type ScaleInfo,
} from '../domain/index.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { type ConfigFormat, type LoadedConfig, type LoadOptions, loadConfig } from './load.ts';
import { checkFile } from './manifest.ts';
import type { ConfigProblem } from './problem.ts';
import { proberFindings } from './prober-rules.ts';
import { type ProberConfig, proberSchema } from './prober-schema.ts';
import { typeFindings } from './type-meta.ts';

const scaleInfo = (config: { level: number; initialDelay: number; timeout: number }): ScaleInfo => ({
  level: config.level,
  initialDelayMs: config.initialDelay,
  timeoutMs: config.timeout,
});

const dependentResources = (config: ProberConfig): readonly DependentResource[] =>
  config.dependentResourceInfos.flatMap(({ ref, optional, scaleUp, scaleDown }) =>
    // Without scaleUp there is an error already, and no settings.
    scaleUp === undefined
      ? []
      : [
          {
            ref,
            optional,
            scaleUp: scaleInfo(scaleUp),
            ...(scaleDown === undefined ? {} : { scaleDown: scaleInfo(scaleDown) }),
          },
        ],
  );

const externalProbe = (config: NonNullable<ProberConfig['externalProbe']>): ExternalProbeSettings => ({
  kubeConfigSecretName: config.kubeConfigSecretName,
  timeoutMs: config.timeout,
  failureThreshold: config.failureThreshold,
  successThreshold: config.successThreshold,
  mode: config.mode,
});

const settingsFrom = (config: ProberConfig): ProberSettings => ({
  kubeConfigSecretName: config.kubeConfigSecretName,
  probeIntervalMs: config.probeInterval,
  initialDelayMs: config.initialDelay,
  probeTimeoutMs: config.probeTimeout,
  backoffJitterFactor: config.backoffJitterFactor,
  nodeMonitorGraceMs: config.kcmNodeMonitorGraceDuration,
  nodeLeaseFailureFraction: config.nodeLeaseFailureFraction,
  dependentResources: dependentResources(config),
  ...(config.allowInsecureShoots ? { allowInsecureShoots: true } : {}),
  apiServerRef: config.apiServerRef,
  ...(config.externalProbe === undefined ? {} : { externalProbe: externalProbe(config.externalProbe) }),
});

const format: ConfigFormat<ReturnType<typeof proberSchema>, ProberSettings> = {
  component: 'prober',
  schema: proberSchema,
  findings: (value) => [...typeFindings('prober', value), ...proberFindings(value)],
  settingsFrom,
  advice: (settings) =>
    adviceOn(settings).map(({ field, text }) => ({ path: [field], message: text, severity: 'warning' })),
};

/** Reads, checks and completes the prober's configuration. Never throws: everything that is wrong is in `problems`, all at once. */
export const loadProberConfig = (text: string, options: LoadOptions): LoadedConfig<ProberSettings> =>
  loadConfig(format, text, options);

/**
 * Everything that is wrong with a prober configuration file: a plain one, or a ConfigMap manifest, each key of whose `data` is
 * checked. Unknown fields are errors. Never throws.
 */
export const checkProberFile = (text: string): readonly ConfigProblem[] => checkFile(format, text);

export const proberJsonSchema = (): JsonSchema => jsonSchemaOf(format);
