import type { ProberSettings } from '../config/settings.ts';
import type { ClusterSource } from './cluster-source.ts';
import { gardenerSource } from './gardener.ts';
import { secretSource } from './secret.ts';

export const sourceOf = (
  settings: Pick<ProberSettings, 'kubeConfigSecretName' | 'clusterSource' | 'dependentResources'>,
): ClusterSource => {
  const { clusterSource } = settings;
  return clusterSource === undefined ? gardenerSource(settings) : secretSource(settings, clusterSource);
};
