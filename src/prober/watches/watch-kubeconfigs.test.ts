import { expect, it } from 'vitest';
import { kubeconfigKeyOf } from './watch-kubeconfigs.ts';

it.each([
  [undefined, 'own', 'kubeconfig'],
  [undefined, 'public', 'kubeconfig'],
  [{ kind: 'secret', key: 'config' }, 'own', 'config'],
  [{ kind: 'secret', key: 'config' }, 'public', 'kubeconfig'],
  [{ kind: 'cluster-api', key: 'value' }, 'own', 'value'],
  [{ kind: 'cluster-api', key: 'value' }, 'public', 'value'],
] as const)('with the source %j, Secret %s has its kubeconfig under %s', (clusterSource, name, key) => {
  const source = clusterSource === undefined ? {} : { clusterSource };
  expect(kubeconfigKeyOf({ ...source, kubeConfigSecretName: 'own' }, name)).toBe(key);
});
