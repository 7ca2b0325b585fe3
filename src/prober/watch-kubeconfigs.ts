import { clusterNameLabel } from '../cluster-api/machine.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { type Informer, createInformer } from '../kubernetes/cache/index.ts';
import { decodeKubeconfigUnder } from '../kubernetes/kubeconfig/index.ts';
import { isTemplate, placeholderValue } from './place.ts';
import type { ProberSettings } from './settings.ts';
import type { WatchDeps } from './watch-dependent.ts';

/**
 * Which Secrets have kubeconfigs. Names that each cluster fills in are those of Cluster API, which labels every Secret of a cluster, and wants the label on those
 * that users bring (`util/secret` of sigs.k8s.io/cluster-api).
 */
export const kubeconfigQuery = (secretName: string): Readonly<Record<string, string>> =>
  isTemplate(secretName) ? { labelSelector: clusterNameLabel } : { fieldSelector: `metadata.name=${secretName}` };

const usualKey = 'kubeconfig';

/**
 * Under which key the Secrets of this name have their kubeconfig. Cluster API has one key for all; that of other sources is the key of `kubeConfigSecretName`, and
 * no other Secret's.
 */
export const kubeconfigKeyOf = (
  { clusterSource, kubeConfigSecretName }: Pick<ProberSettings, 'clusterSource' | 'kubeConfigSecretName'>,
  secretName: string,
): string => {
  const isOfSource = clusterSource?.kind === 'cluster-api' || secretName === kubeConfigSecretName;
  return (isOfSource ? clusterSource?.key : undefined) ?? usualKey;
};

/** Kubeconfig texts of Secrets, by their `namespace/name`; undefined where the Secret has no such key. */
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
