export { adviceOn } from './config-advice.ts';
export { proberConfig } from './config.ts';
export { measureSkew } from './judge/clock-skew.ts';
export { chooseSecret, describeOthers } from './judge/chosen-secret.ts';
export { decideSecretLifecycle } from './judge/secret-lifecycle.ts';
export type { HostedCluster } from './source/cluster-source.ts';
export { hostedShoot } from './source/gardener.ts';
export type { LabelledSecretView } from './source/labelled-secrets.ts';
export { decodeLabelledSecret } from './source/secret.ts';
export {
  type RefTemplate,
  fillTemplate,
  isTemplate,
  ownerOf,
  withoutPlaceholders,
} from './ref-template.ts';
export { kubeconfigKeyOf } from './watches/watch-kubeconfigs.ts';
export { configuredPause, laterPause, shownPause } from './pauses.ts';
export { neededByProber, proberShootGrants } from './rights.ts';
export type { DependentResource, ExternalProbeMode, ExternalProbeSettings, ProberSettings } from './settings.ts';
export type { Standby } from './standby.ts';
export { type ProberOptions, type ProberPorts, createProber, proberComponent, startProber } from './setup.ts';
