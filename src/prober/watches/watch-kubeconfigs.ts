import { clusterNameLabel } from '../../cluster-api/machine.ts';
import { decodeMeta, decodeObject } from '../../kubernetes/api/decode.ts';
import { type Informer, createInformer } from '../../kubernetes/cache/index.ts';
import { decodeKubeconfigUnder } from '../../kubernetes/kubeconfig/index.ts';
import { isTemplate, placeholderValue } from '../cluster-name.ts';
import type { ProberSettings } from '../settings.ts';
import type { WatchDeps } from './watch-dependent.ts';

/**
 * Returns the query for the Secrets with kubeconfigs. Names with placeholders are those of Cluster API, which labels every Secret of a cluster, and requires
 * the label on Secrets that users provide (`util/secret` of sigs.k8s.io/cluster-api).
 */
export const kubeconfigQuery = (secretName: string): Readonly<Record<string, string>> =>
  isTemplate(secretName) ? { labelSelector: clusterNameLabel } : { fieldSelector: `metadata.name=${secretName}` };

const usualKey = 'kubeconfig';

/**
 * Returns the key of the kubeconfig in the Secrets of this name. Cluster API has one key for all; the key of other sources applies to `kubeConfigSecretName`
 * only.
 */
export const kubeconfigKeyOf = (
  { clusterSource, kubeConfigSecretName }: Pick<ProberSettings, 'clusterSource' | 'kubeConfigSecretName'>,
  secretName: string,
): string => {
  const isOfSource = clusterSource?.kind === 'cluster-api' || secretName === kubeConfigSecretName;
  return (isOfSource ? clusterSource?.key : undefined) ?? usualKey;
};

/** Watches the kubeconfig texts of Secrets, by their `namespace/name`; undefined if the Secret has no such key. */
export const watchKubeconfigs = (secretName: string, deps: WatchDeps, key = usualKey): Informer<string | undefined> =>
  createInformer({
    ...deps,
    path: '/api/v1/secrets',
    query: kubeconfigQuery(secretName),
    project: (json, path) => {
      const { name } = decodeMeta(decodeObject(json, path), path);
      return placeholderValue(secretName, name) === undefined ? undefined : decodeKubeconfigUnder(key, json, path);
    },
  });
