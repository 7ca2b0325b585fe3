import {
  type ClusterView,
  decodeCluster,
  decodeObject,
  optionalObject,
  optionalString,
  type ProberSettings,
} from '../domain/index.ts';
import { createInformer, type Informer } from '../kube/index.ts';
import { type WatchDeps, type WatchedDependent, watchDependent } from './dependents.ts';

/** All that a prober watches in the seed. */
export interface ProberSources {
  readonly clusters: Informer<ClusterView>;
  /** Kubeconfig texts by `namespace/name` of their Secret; undefined where the Secret has no key `kubeconfig`. */
  readonly kubeconfigs: Informer<string | undefined>;
  readonly dependents: readonly WatchedDependent[];
}

const decodeKubeconfigSecret = (json: unknown, path: string): string | undefined => {
  const data = optionalObject(decodeObject(json, path).data, `${path}.data`) ?? {};
  const encoded = optionalString(data.kubeconfig, `${path}.data.kubeconfig`);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
};

/** Nothing is watched until the sources run. Each watch is narrowed to the configured names, so that rights can be too. */
export const createProberSources = (settings: ProberSettings, deps: WatchDeps): ProberSources => ({
  clusters: createInformer({
    ...deps,
    path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
    project: decodeCluster,
  }),
  kubeconfigs: createInformer({
    ...deps,
    path: '/api/v1/secrets',
    query: { fieldSelector: `metadata.name=${settings.kubeConfigSecretName}` },
    project: decodeKubeconfigSecret,
  }),
  dependents: settings.dependentResources.map((resource) => watchDependent(resource, deps)),
});
