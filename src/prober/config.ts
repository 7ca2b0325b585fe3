import { type ComponentConfig, componentConfig } from '../config/index.ts';
import { adviceOn } from './config-advice.ts';
import { proberFindings } from './config-rules.ts';
import { type ProberConfig, proberSchema } from './config-schema.ts';
import type { DependentResource, ExternalProbeSettings, ProberSettings, ScaleInfo } from './settings.ts';

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

/**
 * As gardenlet generates it (NewDependencyWatchdogProberConfiguration in https://github.com/gardener/gardener/tree/master/pkg/component), but for
 * two fields: gardenlet probes every 30 s, here it is the default, and it leaves the grace period to its default, which is written down here.
 */
const gardeners = `kubeConfigSecretName: shoot-access-dependency-watchdog-probe
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
    scaleDown: {level: 1}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
    scaleUp: {level: 1, initialDelay: 30s}
    scaleDown: {level: 0}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: cluster-autoscaler}
    optional: true
    scaleUp: {level: 2}
    scaleDown: {level: 0}
`;

export const proberConfig: ComponentConfig<ProberSettings> = componentConfig({
  component: 'prober',
  gardeners,
  schema: proberSchema,
  findings: proberFindings,
  settingsFrom,
  advice: (settings) =>
    adviceOn(settings).map(({ field, text }) => ({ path: [field], message: text, severity: 'warning' })),
});
