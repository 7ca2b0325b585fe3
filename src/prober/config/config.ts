import { type ComponentConfig, type FormerFields, componentConfig } from '../../config/index.ts';
import { parseTime } from '../../annotations/json-annotation.ts';
import { formatLabelSelector } from '../../kubernetes/api/label-selectors.ts';
import { adviceOn } from './advice.ts';
import { proberFindings } from './rules.ts';
import { type ProberConfig, proberSchema } from './schema.ts';
import { type RefTemplate, isOwnNamespace } from './ref-template.ts';
import type { DependentResource, ExternalProbeSettings, ProberSettings, ScaleInfo } from './settings.ts';

const scaleInfo = (config: { level: number; initialDelay: number; timeout: number }): ScaleInfo => ({
  level: config.level,
  initialDelayMs: config.initialDelay,
  timeoutMs: config.timeout,
});

const placedRef = ({ namespace, ...ref }: ProberConfig['dependentResourceInfos'][number]['ref']): RefTemplate => ({
  ...ref,
  // The key of a resource is the same whether its namespace is written out or not.
  ...(namespace === undefined || isOwnNamespace(namespace) ? {} : { namespace }),
});

const dependentResources = (config: ProberConfig): readonly DependentResource[] =>
  config.dependentResourceInfos.flatMap(({ ref, optional, scaleUp, scaleDown }) =>
    // Without scaleUp there is an error already, and no settings.
    scaleUp === undefined
      ? []
      : [
          {
            ref: placedRef(ref),
            optional,
            scaleUp: scaleInfo(scaleUp),
            scaleDown: scaleDown && scaleInfo(scaleDown),
          },
        ],
  );

const pauseOf = ({ paused }: ProberConfig): ProberSettings['paused'] => {
  if (paused === undefined || paused === false) return undefined;
  const { until, reason = '' } = paused === true ? {} : paused;
  return { until: until === undefined ? undefined : parseTime(until), reason, by: 'the configuration' };
};

const externalProbe = (config: NonNullable<ProberConfig['externalProbe']>): ExternalProbeSettings => ({
  kubeConfigSecretName: config.kubeConfigSecretName,
  timeoutMs: config.timeout,
  failureThreshold: config.failureThreshold,
  successThreshold: config.successThreshold,
  mode: config.mode,
});

const selectorOf = (matchLabels: ProberConfig['clusterSource']['selector']): string | undefined =>
  matchLabels && formatLabelSelector({ matchLabels, matchExpressions: [] });

const clusterSource = (config: ProberConfig['clusterSource']): Pick<ProberSettings, 'clusterSource'> => {
  const { kind, key = 'kubeconfig', selector, nodeSelector } = config;
  return kind === 'gardener'
    ? {}
    : { clusterSource: { key, selector: selectorOf(selector), nodeSelector: selectorOf(nodeSelector) } };
};

const settingsFrom = (config: ProberConfig): ProberSettings => ({
  ...clusterSource(config.clusterSource),
  // If both are missing, there is an error already, and no settings.
  kubeConfigSecretName: config.kubeConfigSecretName ?? selectorOf(config.clusterSource.selector) ?? '',
  probeIntervalMs: config.probeInterval,
  initialDelayMs: config.initialDelay,
  probeTimeoutMs: config.probeTimeout,
  backoffJitterFactor: config.backoffJitterFactor,
  nodeMonitorGraceMs: config.kcmNodeMonitorGraceDuration,
  nodeLeaseFailureFraction: config.nodeLeaseFailureFraction,
  allSilentAfterMs: config.allSilentAfter,
  landingTimeoutMs: config.landingTimeout,
  dependentResources: dependentResources(config),
  ...(config.allowInsecureShoots ? { allowInsecureShoots: true } : {}),
  paused: pauseOf(config),
  externalProbe: config.externalProbe && externalProbe(config.externalProbe),
});

/**
 * The configuration that gardenlet generates (NewDependencyWatchdogProberConfiguration in https://github.com/gardener/gardener/tree/master/pkg/component),
 * except for two fields: gardenlet sets `probeInterval: 30s`, here the default of 10 s applies; gardenlet omits `kcmNodeMonitorGraceDuration`, here it is
 * written out.
 */
const defaultText = `kubeConfigSecretName: shoot-access-dependency-watchdog-probe
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

const one = { until: '1.0' };
const two = { until: '1.2' };

/**
 * Fields of older versions of the Go program: pkg/scaler/api before 1.0; api/prober before 1.2, whose external probe compared the two ways to an API server.
 */
const formerFields: FormerFields = {
  probes: {
    ...one,
    now: 'kubeConfigSecretName and dependentResourceInfos',
    stoodFor: ['kubeConfigSecretName', 'dependentResourceInfos'],
  },
  namespace: one,
  internalKubeConfigSecretName: { ...two, now: 'kubeConfigSecretName', stoodFor: ['kubeConfigSecretName'] },
  externalKubeConfigSecretName: { ...two, now: 'externalProbe.kubeConfigSecretName' },
  successThreshold: two,
  failureThreshold: two,
  internalProbeFailureBackoffDuration: two,
  apiServerProbeFailureBackoffDuration: two,
  'dependentResourceInfos.shouldExist': { ...two, now: 'optional (its opposite)' },
  'dependentResourceInfos.scaleUp.replicas': two,
  'dependentResourceInfos.scaleDown.replicas': two,
};

export const proberConfig: ComponentConfig<ProberSettings> = componentConfig({
  component: 'prober',
  defaultText,
  schema: proberSchema,
  formerFields,
  findings: proberFindings,
  settingsFrom,
  advice: (settings) =>
    adviceOn(settings).map(({ field, text }) => ({ path: [field], message: text, severity: 'warning' })),
});
