import type { ProberSettings } from '../settings.ts';
import { clusterApiSource } from './cluster-api.ts';
import type { ClusterSource } from './cluster-source.ts';
import { gardenerSource } from './gardener.ts';
import { secretSource } from './secret.ts';

export const sourceOf = (
  settings: Pick<ProberSettings, 'kubeConfigSecretName' | 'clusterSource' | 'dependentResources'>,
): ClusterSource => {
  const { clusterSource } = settings;
  if (clusterSource === undefined) return gardenerSource(settings);
  return clusterSource.kind === 'cluster-api'
    ? clusterApiSource(settings, clusterSource)
    : secretSource(settings, clusterSource);
};
