import type { Machine } from './machine.ts';
import type { NodeView } from './node.ts';

/** Unhealthy conditions of a worker pool that defines none of its own. */
export const defaultNodeConditions: readonly string[] = [
  'KernelDeadlock',
  'ReadonlyFilesystem',
  'DiskPressure',
  'NetworkUnavailable',
];

/** Unhealthy conditions by worker pool, only for pools that define their own. */
export type PoolConditions = ReadonlyMap<string, readonly string[]>;

/** Selects the nodes whose leases count. The kubelets of the other nodes may be silent for reasons of their own, which the result names. */
export type ChooseCandidates = (
  nodes: readonly NodeView[],
  machines: readonly Machine[],
  poolConditions: PoolConditions,
) => ChosenCandidates;

export interface ChosenCandidates {
  /** Names of the nodes whose leases count. */
  readonly candidates: ReadonlySet<string>;
  /** The reason why the lease of each other node does not count, by the node's name. */
  readonly leftOut: ReadonlyMap<string, string>;
}

const chooseBy = (nodes: readonly NodeView[], whyLeftOut: (node: NodeView) => string | undefined): ChosenCandidates => {
  const candidates = new Set<string>();
  const leftOut = new Map<string, string>();
  for (const node of nodes) {
    const why = whyLeftOut(node);
    if (why === undefined) candidates.add(node.name);
    else leftOut.set(node.name, why);
  }
  return { candidates, leftOut };
};

const ends: ReadonlyMap<string, string> = new Map([
  ['Failed', 'its Machine has failed'],
  ['Terminating', 'its Machine is being deleted'],
]);

/** By node, why its Machine rules the node out; undefined if the Machine is alive. One live Machine of a node is enough. */
const machineExclusions = (machines: readonly Machine[]): ReadonlyMap<string, string | undefined> => {
  const found = new Map<string, string | undefined>();
  for (const { node, phase } of machines) {
    const end = ends.get(phase);
    if (end === undefined || !found.has(node)) found.set(node, end);
  }
  return found;
};

const exclusionOf = (found: ReadonlyMap<string, string | undefined>, node: string): string | undefined =>
  found.has(node) ? found.get(node) : 'its Machine is gone, or it never had one';

/** Candidates of Gardener: managed by MCM, healthy, with a live Machine and not in an in-place update. */
export const chooseCandidates: ChooseCandidates = (nodes, machines, poolConditions) => {
  const found = machineExclusions(machines);
  const unhealthyCondition = ({ pool, trueConditions }: NodeView): string | undefined => {
    const unhealthy = (pool === undefined ? undefined : poolConditions.get(pool)) ?? defaultNodeConditions;
    return unhealthy.find((type) => trueConditions.has(type));
  };
  const whyLeftOut = (node: NodeView): string | undefined => {
    if (!node.managedByMcm) return 'not managed by MCM';
    if (node.inPlaceUpdate) return 'in an in-place update';
    const condition = unhealthyCondition(node);
    if (condition !== undefined) return `its condition ${condition} is True`;
    return exclusionOf(found, node.name);
  };
  return chooseBy(nodes, whyLeftOut);
};

/** Candidates of a cluster without Machines: nodes without an unhealthy condition that are neither being deleted nor about to be. */
export const choosePlainNodes: ChooseCandidates = (nodes) =>
  chooseBy(nodes, ({ leaving, trueConditions }) => {
    if (leaving) return 'being deleted, about to be, or off by plan';
    const condition = defaultNodeConditions.find((type) => trueConditions.has(type));
    return condition === undefined ? undefined : `its condition ${condition} is True`;
  });
