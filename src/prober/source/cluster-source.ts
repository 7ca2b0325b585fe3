import type { ChooseCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { FoundPause } from '../../gardener/pause.ts';
import type { Call } from '../../kubernetes/api/call.ts';
import type { DecodeError } from '../../kubernetes/api/decode.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import type { NamespacedName } from '../../kubernetes/api/resource-ref.ts';
import type { Informer } from '../../kubernetes/cache/index.ts';
import type { Grant } from '../../process/rights/index.ts';
import type { LifecycleDecision } from '../judge/lifecycle.ts';
import type { WatchDeps } from '../watch-dependent.ts';

/** A cluster whose control plane runs in the seed. */
export interface HostedCluster {
  /** By which it goes everywhere: the namespace of its control plane, or `namespace/cluster` where several share one (place.ts). */
  readonly name: string;
  /** Of the Shoot in the garden, if there is one; of the Cluster of Cluster API. */
  readonly shootName?: NamespacedName;
  /** Whether it is probed. Where that cannot be read, a prober that runs is left as it is. */
  readonly lifecycle: Result<LifecycleDecision, DecodeError>;
  /** What its own object orders, where clusters share a namespace, whose pause holds for all of them. */
  readonly pause?: FoundPause;
  /** What somebody has to put right though it is probed, a sentence; absent: nothing. */
  readonly problem?: string;
}

/** What a run lists, where leases have expired, to tell which nodes count. */
export interface NodeLists {
  /** Of the cluster itself. */
  readonly nodes: Call<readonly NodeView[]>;
  /** What the seed has of them. Absent: nothing. */
  readonly machines?: (cluster: string) => Call<readonly Machine[]>;
  /** Sorts out which nodes count. */
  readonly chooseCandidates: ChooseCandidates;
}

/** What is watched of the clusters of a seed. */
export interface WatchedClusters {
  readonly clusters: Informer<HostedCluster>;
  /** Kubeconfig texts by `namespace/name` of their Secret; undefined where the Secret has none. */
  readonly kubeconfigs: Informer<string | undefined>;
  /** A cluster that was there before `since`, monotonic, and is not there now, may come back: it counts as there for a while from then on. Absent: it is gone. */
  readonly awaitSince?: (cluster: string, since: number) => void;
}

/** Finds the clusters of a seed, in the way of what runs them. The rest of the prober does not know in which. */
export interface ClusterSource {
  /** Nothing is watched until it runs. */
  watch(deps: WatchDeps): WatchedClusters;
  /** What becomes of the prober of a cluster that is no longer there. */
  readonly gone: LifecycleDecision;
  readonly lists: NodeLists;
  /** Namespaces of control planes, one of which is enough: rights to single objects may be granted namespace by namespace. */
  readonly someNamespaces: Call<readonly string[]>;
  /** What the source uses in the seed, besides the Secrets with kubeconfigs. */
  readonly grants: {
    /** To find the clusters. */
    readonly clusters: readonly Grant[];
    /** To make the lists. */
    readonly lists: readonly Grant[];
  };
}
