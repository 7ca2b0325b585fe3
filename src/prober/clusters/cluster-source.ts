import type { ChooseCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { Call } from '../../kubernetes/api/call.ts';
import { type FoundPause, findPause } from '../../annotations/pause.ts';
import { type DecodeError, decodeMeta, decodeObject } from '../../kubernetes/api/decode.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import type { NamespacedName } from '../../kubernetes/api/resource-ref.ts';
import { type Informer, type WatchKindDeps, createInformer } from '../../kubernetes/cache/index.ts';
import type { Grant } from '../../process/rights/index.ts';
import type { LifecycleDecision } from './lifecycle.ts';
import { decodeKubeconfigUnder } from '../../kubernetes/kubeconfig/index.ts';
import type { ProberSettings } from '../config/settings.ts';
import type { WatchDeps } from '../scale/watch-dependent.ts';

/** A cluster whose control plane runs in the seed. */
export interface HostedCluster {
  /** Name of the cluster everywhere in the prober: the namespace of its control plane. */
  readonly name: string;
  /** Name of the Shoot in the garden, if there is one. */
  readonly shootName?: NamespacedName;
  /** Name of the seed. Absent if the platform has none. */
  readonly seedName?: string;
  /** Decision on probing the cluster. If its object cannot be decoded, a running prober continues unchanged. */
  readonly lifecycle: Result<LifecycleDecision, DecodeError>;
  /** A sentence about a problem that somebody has to fix although the cluster is probed. Absent if there is none. */
  readonly problem?: string;
}

/** How a run, after leases have expired, selects the nodes that count. */
export interface NodeLists {
  /** Lists the nodes of a cluster. */
  readonly nodes: Call<readonly NodeView[]>;
  /** Why a lease does not count if that list has no node of its name. */
  readonly noSuchNode: string;
  /** Lists the Machines of a cluster, in the seed. Absent if there are none. */
  readonly machines?: (cluster: string) => Call<readonly Machine[]>;
  /** Selects the nodes whose leases count. */
  readonly chooseCandidates: ChooseCandidates;
}

/** Kubeconfig texts by `namespace/name` of their Secret; undefined if the Secret has none. */
export type Kubeconfigs = Pick<
  Informer<string | undefined>,
  'name' | 'run' | 'state' | 'synced' | 'whenSynced' | 'get' | 'subscribe'
>;

export interface SourceDeps extends WatchDeps {
  /** The Namespaces of the seed, which somebody else watches. */
  readonly namespaces: Informer<NamespaceView>;
}

/** Informers for the clusters of a seed. */
export interface WatchedClusters {
  readonly clusters: Informer<HostedCluster>;
  readonly kubeconfigs: Kubeconfigs;
  /**
   * Lets a cluster that existed before `since` (monotonic) and does not exist now count as existing for a while after `since`, because it may return. Absent if
   * a missing cluster is gone at once.
   */
  readonly awaitSince?: (cluster: string, since: number) => void;
}

/** What a Namespace of the seed says. */
export interface NamespaceView {
  readonly deleting: boolean;
  /** The pause that it orders. */
  readonly pause?: FoundPause;
}

export const decodeNamespace = (json: unknown, path: string): NamespaceView => {
  const { deleting, annotations } = decodeMeta(decodeObject(json, path), path);
  return { deleting, pause: findPause(annotations) };
};

export const watchNamespaces = (deps: Omit<WatchKindDeps, 'client'>): Informer<NamespaceView> =>
  createInformer({ ...deps, path: '/api/v1/namespaces', project: decodeNamespace });

/** Finds the clusters of a seed by the conventions of the platform that runs them. The rest of the prober does not depend on the platform. */
export interface ClusterSource {
  /** Creates the informers. Nothing is watched until they run. */
  watch(deps: SourceDeps): WatchedClusters;
  /** Decision for the prober of a cluster that no longer exists. */
  readonly gone: LifecycleDecision;
  readonly lists: NodeLists;
  /**
   * Lists namespaces of control planes; one is enough. The permission check needs it because rights to single objects may be granted namespace by namespace.
   */
  readonly someNamespaces: Call<readonly string[]>;
  /** Rights that the source needs in the seed, besides those to the Secrets with kubeconfigs: to find the clusters and to request `lists`. */
  readonly grants: readonly Grant[];
}

/** Of a source that lists all nodes. */
export const noSuchNode = 'there is no such node';

const usualKey = 'kubeconfig';

/** Returns the key of the kubeconfig in the Secrets of this name. The key of `clusterSource` applies to `kubeConfigSecretName` only. */
export const kubeconfigKeyOf = (
  { clusterSource, kubeConfigSecretName }: Pick<ProberSettings, 'clusterSource' | 'kubeConfigSecretName'>,
  secretName: string,
): string => {
  return (secretName === kubeConfigSecretName ? clusterSource?.key : undefined) ?? usualKey;
};

/** Watches the kubeconfig texts of Secrets, by their `namespace/name`; undefined if the Secret has no such key. */
export const watchKubeconfigs = (secretName: string, deps: WatchDeps, key = usualKey): Informer<string | undefined> =>
  createInformer({
    ...deps,
    path: '/api/v1/secrets',
    query: { fieldSelector: `metadata.name=${secretName}` },
    project: (json, path) => decodeKubeconfigUnder(key, json, path),
  });
