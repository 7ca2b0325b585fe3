import {
  configuredAs,
  type DependentResource,
  type ProberSettings,
  fillTemplate,
  withoutPlaceholders,
} from '../../src/prober/index.ts';
import { type SimKind, type SimObject, getPath } from '../apiserver/index.ts';
import {
  type ShootInit,
  clusterAutoscaler,
  kubeApiserver,
  kubeControllerManager,
  machineControllerManager,
} from '../world/index.ts';

/** Gardener's names of programs, by the names that other systems give them. */
const others: Readonly<Record<string, string>> = {
  'controller-manager': kubeControllerManager,
  apiserver: kubeApiserver,
};

/** Returns the program that a resource runs: the resource's name without that of its cluster. */
export const componentOf = (name: string): string => {
  const left = withoutPlaceholders(name).replaceAll(/^-|-$/g, '');
  return left === name ? name : (others[left] ?? left);
};

const managers: readonly string[] = [kubeControllerManager, machineControllerManager, clusterAutoscaler];

/** Returns the names of a cluster's Deployments, by component: those of the configuration. */
export const namesAt = ({ dependentResources }: ProberSettings, namespace: string): NonNullable<ShootInit['names']> =>
  Object.fromEntries(
    dependentResources
      .map(({ ref }) => ref)
      .filter(({ kind, name }) => kind === 'Deployment' && [kubeApiserver, ...managers].includes(componentOf(name)))
      .map(({ name }) => [componentOf(name), fillTemplate(name, namespace)]),
  );

/** Returns the names of resources outside the namespace of their cluster, which the simulated seed does not support. */
export const elsewhere = ({ dependentResources }: ProberSettings): readonly string[] =>
  dependentResources
    .map(({ ref }) => ref)
    .filter(({ namespace = '{{ namespace }}' }) => fillTemplate(namespace, 'own') !== 'own')
    .map(({ name }) => name);

/** Returns the configured resource that an object in the namespace of a cluster is. */
export const configuredFor = (
  settings: ProberSettings,
  { apiVersion, kind, metadata: { name, namespace = '' } }: SimObject,
): DependentResource | undefined =>
  configuredAs(settings, { namespace, ref: { apiVersion, kind, name }, annotations: {} });

/** Returns the desired replicas of an object. */
export const replicasOf = (object: SimObject, { scale }: SimKind): number => {
  const found = getPath(object, scale?.replicas ?? []);
  return typeof found === 'number' ? found : 1;
};
