import { type CapiCluster, decodeCapiCluster } from '../../cluster-api/cluster.ts';
import { clusterNameLabel, decodeCapiMachine } from '../../cluster-api/machine.ts';
import { chooseByMachines } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import { findPause } from '../../gardener/pause.ts';
import { listPlainNodes } from '../../gardener/plain-node.ts';
import type { Call } from '../../kubernetes/api/call.ts';
import { decodeList, decodeMeta, decodeObject } from '../../kubernetes/api/decode.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../../kubernetes/api/kube.ts';
import { listCall } from '../../kubernetes/api/list-call.ts';
import { resourcePath } from '../../kubernetes/api/resource-path.ts';
import { createInformer } from '../../kubernetes/cache/index.ts';
import { listVersions } from '../../kubernetes/client/index.ts';
import { watched } from '../../process/rights/index.ts';
import { capiClusterGone, decideCapiLifecycle } from '../judge/capi-lifecycle.ts';
import { parseClusterName } from '../cluster-name.ts';
import type { ClusterSourceSettings, ProberSettings } from '../settings.ts';
import { kubeconfigQuery, watchKubeconfigs } from '../watches/watch-kubeconfigs.ts';
import type { ClusterSource, HostedCluster } from './cluster-source.ts';

const group = 'cluster.x-k8s.io';

/** Versions whose objects src/cluster-api decodes. */
const decodedVersions: ReadonlySet<string> = new Set([`${group}/v1beta1`, `${group}/v1beta2`]);

const discoveryTimeoutMs = 10_000;

/** Finds the version of Cluster API that a management cluster serves and prefers, such as `cluster.x-k8s.io/v1beta2`. Rejects with an ApiError. */
const findCapiVersion = async (client: KubeClient, options: CallOptions): Promise<string> => {
  const versions = await listVersions(client, group, options);
  const found = versions.find((version) => decodedVersions.has(version));
  if (found !== undefined) return found;
  const served = versions.length === 0 ? 'nothing' : versions.join(', ');
  const message = `Cluster API is needed in ${[...decodedVersions].join(' or ')}, and the API server serves ${served} of it`;
  throw new ApiError({ code: 'NotFound', message });
};

const hostedCapiCluster = (cluster: CapiCluster): HostedCluster => {
  const { namespace, name, annotations } = cluster;
  const pause = findPause(annotations);
  return {
    name: `${namespace}/${name}`,
    shootName: { namespace, name },
    lifecycle: { ok: true, value: decideCapiLifecycle(cluster) },
    ...(pause === undefined ? {} : { pause }),
  };
};

export const decodeHosted = (json: unknown, path: string): HostedCluster =>
  hostedCapiCluster(decodeCapiCluster(json, path));

/** Lists the Clusters of all namespaces. Rejects with an ApiError. */
export const listCapiClusters = async (client: KubeClient, options: CallOptions): Promise<readonly HostedCluster[]> => {
  const version = await findCapiVersion(client, options);
  const call = listCall({ path: `/apis/${version}/clusters`, kind: 'ClusterList', decode: decodeHosted });
  return (await client.call(call, options)).value;
};

/** Returns the path of the Cluster named `namespace/name`. Rejects with an ApiError: NotFound if Cluster API is not served. */
export const findCapiClusterPath = async (client: KubeClient, name: string, options: CallOptions): Promise<string> => {
  const apiVersion = await findCapiVersion(client, options);
  const { namespace, cluster } = parseClusterName(name);
  return resourcePath({ apiVersion, resource: 'clusters', namespace, name: cluster });
};

/** Phases of a Machine that is being replaced or is gone (`MachinePhase` in sigs.k8s.io/cluster-api/api/core). */
const leaving: ReadonlySet<string> = new Set(['Deleting', 'Deleted', 'Failed']);

/** Decodes a Machine into the form that the judgement uses: one that is being replaced is `Terminating` there. */
export const decodeMachine = (json: unknown, path: string): Machine => {
  const { node, phase, deleting } = decodeCapiMachine(json, path);
  return { node, phase: deleting || leaving.has(phase) ? 'Terminating' : phase, deleting };
};

const listMachines = (version: string, name: string): Call<readonly Machine[]> => {
  const { namespace, cluster } = parseClusterName(name);
  return listCall({
    path: resourcePath({ apiVersion: version, resource: 'machines', namespace }),
    query: { labelSelector: `${clusterNameLabel}=${cluster}` },
    kind: 'MachineList',
    decode: decodeMachine,
  });
};

/** Cluster source for Cluster API: a Cluster (`cluster.x-k8s.io`) for each cluster. Several may share a namespace. */
export const clusterApiSource = (
  { kubeConfigSecretName }: Pick<ProberSettings, 'kubeConfigSecretName'>,
  { key }: Pick<ClusterSourceSettings, 'key'>,
): ClusterSource => {
  // Not used before it is found: no run lists Machines before the Clusters have been found.
  let version = `${group}/v1beta2`;
  return {
    watch: (deps) => ({
      clusters: createInformer({
        ...deps,
        name: `clusters.${group}`,
        path: async (signal) => {
          version = await findCapiVersion(deps.client, { signal, timeoutMs: discoveryTimeoutMs });
          return `/apis/${version}/clusters`;
        },
        project: decodeHosted,
      }),
      kubeconfigs: watchKubeconfigs(kubeConfigSecretName, deps, key),
    }),
    gone: capiClusterGone,
    lists: {
      nodes: listPlainNodes,
      machines: (name) => listMachines(version, name),
      chooseCandidates: chooseByMachines,
    },
    someNamespaces: {
      method: 'GET',
      path: '/api/v1/secrets',
      query: { ...kubeconfigQuery(kubeConfigSecretName), limit: '1' },
      decode: decodeList((item, at) => decodeMeta(decodeObject(item, at), at).namespace),
    },
    grants: {
      clusters: [{ group, resource: 'clusters', verbs: watched, purpose: 'to find the clusters' }],
      lists: [
        {
          group,
          resource: 'machines',
          verbs: ['list'],
          purpose: 'to judge a cluster whose leases have expired',
          byNamespace: true,
        },
      ],
    },
  };
};
