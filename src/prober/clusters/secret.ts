import { choosePlainNodes } from '../../gardener/candidate-nodes.ts';
import { listPlainNodes } from '../../gardener/plain-node.ts';
import { decodeList, decodeMeta, decodeObject, optionalMicroTime } from '../../kubernetes/api/decode.ts';
import { type Informer, createInformer } from '../../kubernetes/cache/index.ts';
import { decodeKubeconfigUnder } from '../../kubernetes/kubeconfig/index.ts';
import { whenAborted } from '../../process/index.ts';
import { secretGone } from './lifecycle.ts';
import type { ClusterSourceSettings, ProberSettings } from '../config/settings.ts';
import type { WatchDeps } from '../scale/watch-dependent.ts';
import { holdsOutside } from '../scale/held.ts';
import type { ClusterSource } from './cluster-source.ts';
import { LabelledSecrets, type LabelledSecretView } from './labelled-secrets.ts';
import { type NamespaceView, SecretClusters, type SecretView } from './secret-clusters.ts';

/** Returns a view of the kubeconfigs in another informer, which runs anyway. */
const kubeconfigsOf = (secrets: Informer<SecretView>): Informer<string | undefined> => ({
  name: secrets.name,
  run: whenAborted,
  state: () => secrets.state(),
  interruptedMs: () => secrets.interruptedMs(),
  get synced() {
    return secrets.synced;
  },
  get: (key) => secrets.get(key)?.text,
  *entries() {
    for (const [key, { text }] of secrets.entries()) yield [key, text];
  },
  subscribe: (listener) =>
    secrets.subscribe(({ type, key, value, previous }) =>
      listener({ type, key, value: value.text, ...(previous === undefined ? {} : { previous: previous.text }) }),
    ),
  whenSynced: (signal) => secrets.whenSynced(signal),
});

export const decodeSecret = (key: string, json: unknown, path: string): SecretView => ({
  text: decodeKubeconfigUnder(key, json, path),
  deleting: decodeMeta(decodeObject(json, path), path).deleting,
});

/** Decodes a Secret that is selected by its labels. */
export const decodeLabelledSecret = (key: string, json: unknown, path: string): LabelledSecretView => {
  const object = decodeObject(json, path);
  const { name, namespace } = decodeMeta(object, path);
  const { creationTimestamp } = decodeObject(object.metadata, `${path}.metadata`);
  const created = optionalMicroTime(creationTimestamp, `${path}.metadata.creationTimestamp`) ?? 0;
  return { name, namespace, created, ...decodeSecret(key, json, path) };
};

export const decodeNamespace = (json: unknown, path: string): NamespaceView => ({
  deleting: decodeMeta(decodeObject(json, path), path).deleting,
});

const path = '/api/v1/secrets';

/** Returns the query for the Secrets with kubeconfigs: those of one name, or those with the labels of the selector. */
const secretQuery = (
  secretName: string,
  { selector }: Pick<ClusterSourceSettings, 'selector'>,
): Readonly<Record<string, string>> =>
  selector === undefined ? { fieldSelector: `metadata.name=${secretName}` } : { labelSelector: selector };

/**
 * Cluster source for any hosted control plane: a namespace is a cluster if it has a Secret of the configured name or labels, with the kubeconfig under `key`.
 */
export const secretSource = (
  settings: Pick<ProberSettings, 'kubeConfigSecretName' | 'dependentResources'>,
  { key, selector }: ClusterSourceSettings,
): ClusterSource => {
  const { kubeConfigSecretName: secretName } = settings;
  const holdsElsewhere = holdsOutside(settings);
  const query = secretQuery(secretName, { selector });
  const watchSecrets = (deps: WatchDeps): Informer<SecretView> => {
    const watching = { ...deps, path, query };
    if (selector === undefined) {
      return createInformer({ ...watching, project: (json, at) => decodeSecret(key, json, at) });
    }
    const secrets = createInformer({ ...watching, project: (json, at) => decodeLabelledSecret(key, json, at) });
    return new LabelledSecrets(secrets, secretName);
  };
  return {
    watch: (deps) => {
      const secrets = watchSecrets(deps);
      const namespaces = createInformer({ ...deps, path: '/api/v1/namespaces', project: decodeNamespace });
      const clusters = new SecretClusters({ secrets, namespaces, secretName, holdsElsewhere, clock: deps.clock });
      const awaitSince = (namespace: string, since: number): void => clusters.awaitSince(namespace, since);
      return { clusters, kubeconfigs: kubeconfigsOf(secrets), awaitSince };
    },
    gone: secretGone,
    lists: { nodes: listPlainNodes, chooseCandidates: choosePlainNodes },
    someNamespaces: {
      method: 'GET',
      path,
      query: { ...query, limit: '1' },
      decode: decodeList((item, at) => decodeMeta(decodeObject(item, at), at).namespace),
    },
    // No grants: Secrets and Namespaces are watched for other reasons, too.
    grants: { clusters: [], lists: [] },
  };
};
