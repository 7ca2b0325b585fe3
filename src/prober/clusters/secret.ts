import { choosePlainNodes } from '../../gardener/candidate-nodes.ts';
import { listNodes } from '../../gardener/node.ts';
import { decodeList, decodeMeta, decodeObject, optionalMicroTime } from '../../kubernetes/api/decode.ts';
import { createInformer } from '../../kubernetes/cache/index.ts';
import { decodeKubeconfigUnder } from '../../kubernetes/kubeconfig/index.ts';
import { secretGone } from './lifecycle.ts';
import type { ClusterSourceSettings, ProberSettings } from '../config/settings.ts';
import { holdsOutside } from '../scale/held.ts';
import { type ClusterSource, type NodeLists, noSuchNode } from './cluster-source.ts';
import { type ClusterSecret, SecretClusters } from './secret-clusters.ts';

export const decodeClusterSecret = (key: string, json: unknown, path: string): ClusterSecret => {
  const object = decodeObject(json, path);
  const { name, namespace, deleting } = decodeMeta(object, path);
  const { creationTimestamp } = decodeObject(object.metadata, `${path}.metadata`);
  const created = optionalMicroTime(creationTimestamp, `${path}.metadata.creationTimestamp`) ?? 0;
  return { name, namespace, created, deleting, text: decodeKubeconfigUnder(key, json, path) };
};

const path = '/api/v1/secrets';

const nodesBy = (labelSelector: string | undefined): Pick<NodeLists, 'nodes' | 'noSuchNode'> =>
  labelSelector === undefined
    ? { nodes: listNodes, noSuchNode }
    : {
        nodes: { ...listNodes, query: { ...listNodes.query, labelSelector } },
        noSuchNode: 'there is no such node, or nodeSelector leaves it out',
      };

/**
 * Cluster source for any hosted control plane: a namespace is a cluster if it has a Secret of the configured name or labels, with the kubeconfig under `key`.
 */
export const secretSource = (
  settings: Pick<ProberSettings, 'kubeConfigSecretName' | 'dependentResources'>,
  { key, selector, nodeSelector }: ClusterSourceSettings,
): ClusterSource => {
  const { kubeConfigSecretName: secretName } = settings;
  const holdsElsewhere = holdsOutside(settings);
  const query: Readonly<Record<string, string>> =
    selector === undefined ? { fieldSelector: `metadata.name=${secretName}` } : { labelSelector: selector };
  return {
    watch: (deps) => {
      const secrets = createInformer({
        ...deps,
        path,
        query,
        project: (json, at) => decodeClusterSecret(key, json, at),
      });
      const clusters = new SecretClusters({ ...deps, secrets, secretName, holdsElsewhere });
      const awaitSince = (cluster: string, since: number): void => clusters.awaitSince(cluster, since);
      return { clusters, kubeconfigs: clusters.kubeconfigs, awaitSince };
    },
    gone: secretGone,
    lists: { ...nodesBy(nodeSelector), chooseCandidates: choosePlainNodes },
    someNamespaces: {
      method: 'GET',
      path,
      query: { ...query, limit: '1' },
      decode: decodeList((item, at) => decodeMeta(decodeObject(item, at), at).namespace),
    },
    // No grants: Secrets and Namespaces are watched for other reasons, too.
    grants: [],
  };
};
