import { expect, it } from 'vitest';
import { kubeconfigKeyOf } from './cluster-source.ts';

it.each([
  [undefined, 'own', 'kubeconfig'],
  [undefined, 'public', 'kubeconfig'],
  [{ key: 'config' }, 'own', 'config'],
  [{ key: 'config' }, 'public', 'kubeconfig'],
] as const)('with the source %j, Secret %s has its kubeconfig under %s', (clusterSource, name, key) => {
  const source = clusterSource === undefined ? {} : { clusterSource };
  expect(kubeconfigKeyOf({ ...source, kubeConfigSecretName: 'own' }, name)).toBe(key);
});
