export { adviceOn } from './config-advice.ts';
export { proberConfig } from './config.ts';
export { measureSkew } from './judge/clock-skew.ts';
export { chooseSecret, describeOthers } from './judge/chosen-secret.ts';
export { decideSecretLifecycle } from './judge/secret-lifecycle.ts';
export type { HostedCluster } from './source/cluster-source.ts';
export { findCapiClusterPath, listCapiClusters } from './source/cluster-api.ts';
export { hostedShoot } from './source/gardener.ts';
export type { LabelledSecretView } from './source/labelled-secrets.ts';
export { decodeLabelledSecret } from './source/secret.ts';
export { clusterOfHeld } from './release-settings.ts';
export { type OwnedResource, findOwned, holdsOutside, ownerOf } from './of-cluster.ts';
export { type PlacedRef, fillIn, isTemplate, placeOf, withoutPlaceholders } from './place.ts';
export { kubeconfigKeyOf, kubeconfigQuery } from './watch-kubeconfigs.ts';
export { findHeldInCache, fromCache } from './held-in-cache.ts';
export { type HeldResource, findHeldOf, heldName } from './held.ts';
export { listHeld, listHeldOf } from './list-held.ts';
export { releaseHeld } from './release-held.ts';
export { foreseeRelease, wasOf } from './release-result.ts';
export { configuredPause, laterPause, shownPause } from './pauses.ts';
export { type NotifySettings, parseTemplate, renderJson } from './notify/index.ts';
export { type PluralOf, namesOf, neededByProber, proberGrants, proberShootGrants, secretsNamed } from './rights.ts';
export type { DependentResource, ExternalProbeMode, ExternalProbeSettings, ProberSettings } from './settings.ts';
export type { Standby } from './standby.ts';
export { pauseInWords } from './status/next-step.ts';
export { shootNameIn } from './status/prober-status.ts';
export {
  type HeldInShoot,
  type LeaseEvidence,
  type PauseInForce,
  type ProbedShoot,
  type ProberStatus,
  type ProtectionState,
  type RecordedDecision,
  type ScalingProgress,
  protectionStates,
  statusSchema,
} from './status/schema.ts';
export { type ProberOptions, type ProberPorts, createProber, proberComponent, startProber } from './setup.ts';
