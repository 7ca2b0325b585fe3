export { adviceOn, scaleDownTimeline } from './config/advice.ts';
export { proberConfig } from './config/config.ts';
export { notCounted } from './judge/decide.ts';
export { measureSkew } from './judge/leases.ts';
export { chooseSecret, describeOthers } from './clusters/lifecycle.ts';
export { type ShootSettings, decideSecretLifecycle } from './clusters/lifecycle.ts';
export type { HostedCluster, NodeLists } from './clusters/cluster-source.ts';
export { hostedShoot } from './clusters/gardener.ts';
export { sourceOf } from './clusters/sources.ts';
export type { ClusterSecret } from './clusters/secret-clusters.ts';
export { decodeClusterSecret } from './clusters/secret.ts';
export {
  type RefTemplate,
  fillTemplate,
  isTemplate,
  ownerOf,
  withoutPlaceholders,
} from './config/ref-template.ts';
export { byReason } from './report/shown.ts';
export { kubeconfigKeyOf } from './clusters/cluster-source.ts';
export { type PauseWithOrigin, laterPause, placed, shownPause } from './scale/pauses.ts';
export { neededByProber, proberShootGrants } from './rights.ts';
export type { DependentResource, ExternalProbeMode, ExternalProbeSettings, ProberSettings } from './config/settings.ts';
export type { Standby } from './scale/desired.ts';
export { type ProberOptions, type ProberPorts, createProber, proberComponent } from './component.ts';
export { type HeldResource, findHeld, heldName, listHeld } from './scale/find-held.ts';
export { configuredAs, holdsOutside, isStillDown, shownHeld } from './scale/held.ts';
export { type ReleaseResult, formerSuffix, releaseHeld } from './release.ts';
