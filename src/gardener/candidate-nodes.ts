import type { Machine } from './machine.ts';
import type { NodeView } from './node.ts';

/** Unhealthy conditions of a pool that names none of its own. */
export const defaultNodeConditions: readonly string[] = [
  'KernelDeadlock',
  'ReadonlyFilesystem',
  'DiskPressure',
  'NetworkUnavailable',
];

/** Unhealthy conditions per worker pool, only for pools that name their own. */
export type PoolConditions = ReadonlyMap<string, readonly string[]>;

/**
 * Names of the nodes whose leases may be judged: managed by MCM, healthy, with a live Machine and not in an in-place update. The others'
 * kubelets may well be silent for reasons of their own.
 */
export const candidateNodes = (
  nodes: readonly NodeView[],
  machines: readonly Machine[],
  poolConditions: PoolConditions,
): ReadonlySet<string> => {
  const withMachine = new Set(
    machines.filter(({ phase }) => phase !== 'Failed' && phase !== 'Terminating').map(({ node }) => node),
  );
  const isHealthy = ({ pool, trueConditions }: NodeView): boolean => {
    const unhealthy = (pool === undefined ? undefined : poolConditions.get(pool)) ?? defaultNodeConditions;
    return !unhealthy.some((type) => trueConditions.has(type));
  };
  return new Set(
    nodes
      .filter((node) => node.managedByMcm && !node.inPlaceUpdate && isHealthy(node) && withMachine.has(node.name))
      .map(({ name }) => name),
  );
};
