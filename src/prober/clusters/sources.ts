import {
  type ClusterSource,
  type Kubeconfigs,
  type SourceDeps,
  type WatchedClusters,
  kubeconfigKeyOf,
  watchKubeconfigs,
} from './cluster-source.ts';
import type { ExternalProbeSettings, ProberSettings } from '../config/settings.ts';
import { type WatchedDependent, watchDependent } from '../scale/watch-dependent.ts';
import { gardenerSource } from './gardener.ts';
import { secretSource } from './secret.ts';

/** All that a prober watches in the seed. */
export interface ProberSources extends WatchedClusters {
  readonly source: ClusterSource;
  /** The same for the external probe, if it is configured. It is the same watch if its Secret has the same name. */
  readonly externalKubeconfigs: Kubeconfigs | undefined;
  readonly dependents: readonly WatchedDependent[];
}

/** Creates the watches; nothing is watched until they run. Each watch is limited to the configured names, so that rights can be limited too. */
export const createProberSources = (settings: ProberSettings, deps: SourceDeps): ProberSources => {
  const { kubeConfigSecretName, externalProbe } = settings;
  const source = sourceOf(settings);
  const watched = source.watch(deps);
  const { kubeconfigs } = watched;
  const externalOf = ({ kubeConfigSecretName: name }: ExternalProbeSettings): Kubeconfigs =>
    name === kubeConfigSecretName ? kubeconfigs : watchKubeconfigs(name, deps, kubeconfigKeyOf(settings, name));
  return {
    source,
    ...watched,
    externalKubeconfigs: externalProbe && externalOf(externalProbe),
    dependents: settings.dependentResources.map((resource) => watchDependent(resource, deps)),
  };
};

export const sourceOf = (
  settings: Pick<ProberSettings, 'kubeConfigSecretName' | 'clusterSource' | 'dependentResources'>,
): ClusterSource => {
  const { clusterSource } = settings;
  return clusterSource === undefined ? gardenerSource(settings) : secretSource(settings, clusterSource);
};
