import { type ComponentConfig, componentConfig } from '../config/index.ts';
import { careFindings } from './config-rules.ts';
import { type CareConfig, careSchema } from './config-schema.ts';
import type { CareSettings } from './settings.ts';

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

/** A minimal configuration: gardenlet generates none for care, because it has its own care built in. */
const defaultText = `syncPeriod: 1m0s
`;

export const careConfig: ComponentConfig<CareSettings> = componentConfig({
  component: 'care',
  defaultText,
  schema: careSchema,
  findings: careFindings,
  settingsFrom,
});
