import { type ClusterView, decodeCluster } from '../gardener/cluster.ts';
import { type Informer, createInformer } from '../kubernetes/cache/index.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';
import { type WatchedApiServer, watchApiServers } from './watch-api-servers.ts';
import type { ExternalProbeSettings, ProberSettings } from './settings.ts';
import { type WatchDeps, type WatchedDependent, watchDependent } from './watch-dependent.ts';

/** All that a prober watches in the seed. */
export interface ProberSources {
  readonly clusters: Informer<ClusterView>;
  /** Kubeconfig texts by `namespace/name` of their Secret; undefined where the Secret has no key `kubeconfig`. */
  readonly kubeconfigs: Informer<string | undefined>;
  /** The same of the outside path where there is one; the same watch where its Secret has the same name. */
  readonly externalKubeconfigs: Informer<string | undefined> | undefined;
  readonly dependents: readonly WatchedDependent[];
  readonly apiServers: WatchedApiServer;
}

/** Nothing is watched until the sources run. Each watch is narrowed to the configured names, so that rights can be too. */
export const createProberSources = (settings: ProberSettings, deps: WatchDeps): ProberSources => {
  const { kubeConfigSecretName, externalProbe } = settings;
  const watchSecrets = (name: string): Informer<string | undefined> =>
    createInformer({
      ...deps,
      path: '/api/v1/secrets',
      query: { fieldSelector: `metadata.name=${name}` },
      project: decodeKubeconfigSecret,
    });
  const kubeconfigs = watchSecrets(kubeConfigSecretName);
  const outsideOf = ({ kubeConfigSecretName: name }: ExternalProbeSettings): Informer<string | undefined> =>
    name === kubeConfigSecretName ? kubeconfigs : watchSecrets(name);
  return {
    clusters: createInformer({
      ...deps,
      path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
      project: decodeCluster,
    }),
    kubeconfigs,
    externalKubeconfigs: externalProbe && outsideOf(externalProbe),
    dependents: settings.dependentResources.map((resource) => watchDependent(resource, deps)),
    apiServers: watchApiServers(settings.apiServerRef, deps),
  };
};
