import { type Informer, createInformer } from '../../kubernetes/cache/index.ts';
import { decodeKubeconfigUnder } from '../../kubernetes/kubeconfig/index.ts';
import type { ProberSettings } from '../config/settings.ts';
import type { WatchDeps } from '../scale/watch-dependent.ts';

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
