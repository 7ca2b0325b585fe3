import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import { type ProberSettings, fillTemplate, withoutPlaceholders } from '../../src/prober/index.ts';
import type { SimKind } from '../apiserver/index.ts';
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

/** Returns the workloads of a cluster's components: those of the configuration. `byRef`: kinds that can be scaled, by `refKey`. */
export const workloadsAt = (
  { dependentResources }: ProberSettings,
  namespace: string,
  byRef: ReadonlyMap<string, SimKind>,
): NonNullable<ShootInit['workloads']> =>
  Object.fromEntries(
    dependentResources.flatMap(({ ref }) => {
      const [component, kind] = [componentOf(ref.name), byRef.get(refKey(ref))];
      if (kind === undefined || ![kubeApiserver, ...managers].includes(component)) return [];
      return [[component, { kind, name: fillTemplate(ref.name, namespace) }]];
    }),
  );

/** Returns the names of resources outside the namespace of their cluster, which the simulated seed does not support. */
export const elsewhere = ({ dependentResources }: ProberSettings): readonly string[] =>
  dependentResources
    .map(({ ref }) => ref)
    .filter(({ namespace = '{{ namespace }}' }) => fillTemplate(namespace, 'own') !== 'own')
    .map(({ name }) => name);
