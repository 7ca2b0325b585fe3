export { adviceOn } from './config/advice.ts';
export { proberConfig } from './config/config.ts';
export { measureSkew } from './judge/clock-skew.ts';
export { chooseSecret, describeOthers } from './clusters/chosen-secret.ts';
export { decideSecretLifecycle } from './clusters/secret-lifecycle.ts';
export type { HostedCluster } from './clusters/cluster-source.ts';
export { hostedShoot } from './clusters/gardener.ts';
export type { LabelledSecretView } from './clusters/labelled-secrets.ts';
export { decodeLabelledSecret } from './clusters/secret.ts';
export {
  type RefTemplate,
  fillTemplate,
  isTemplate,
  ownerOf,
  withoutPlaceholders,
} from './config/ref-template.ts';
export { kubeconfigKeyOf } from './clusters/watch-kubeconfigs.ts';
export { configuredPause, laterPause, shownPause } from './scale/pauses.ts';
export { neededByProber, proberShootGrants } from './rights.ts';
export type { DependentResource, ExternalProbeMode, ExternalProbeSettings, ProberSettings } from './config/settings.ts';
export type { Standby } from './scale/standby.ts';
export { type ProberOptions, type ProberPorts, createProber, proberComponent, startProber } from './component.ts';
export { findHeldInCache, watchCacheListOptions } from './scale/held-in-cache.ts';
export { type HeldResource, heldName } from './scale/held.ts';
export { listHeld } from './scale/list-held.ts';
export { clusterOfHeld, configuredAs, holdsOutside } from './scale/owner.ts';
export { releaseHeld } from './scale/release-held.ts';
export { shownHeld } from './scale/held-unprobed.ts';
export { foreseeRelease, formerSuffix } from './scale/release-result.ts';
