import { simKinds } from '../apiserver/index.ts';
import type { ActorDeps, PathToServer } from './actor.ts';
import { type KubeletPath, startKubelet } from './kubelet.ts';
import { nodeLeaseNamespace, poolName } from './objects.ts';

export interface FleetOptions {
  readonly namespace: string;
  /** Path to the API server for nodes that are not cut off. */
  readonly path: PathToServer;
  /** True if all nodes are cut off. */
  readonly isCutOff: () => boolean;
}

/** Creates the virtual machines of a shoot, each with a kubelet whose path to the API server can be cut. `store` is the shoot's. */
export const createFleet = (deps: ActorDeps, { namespace, path, isCutOff }: FleetOptions) => {
  const { store } = deps;
  const kubelets = new Map<string, () => void>();
  const cut = new Set<string>();
  let machines = 0;
  return {
    /** Returns a name that no machine of the shoot has had. */
    nameFor: (): string => {
      machines += 1;
      return `${namespace}-${poolName}-${String(machines)}`;
    },
    /** Starts a machine. With `bootMs`, it boots for that time and then registers its node; without, it is running already. */
    start: (node: string, bootMs?: number): void => {
      const pathOfNode: KubeletPath = () => {
        if (cut.has(node) || isCutOff()) return 'silent';
        const reachability = path();
        return reachability === 'silent' ? 'hung' : reachability;
      };
      kubelets.set(node, startKubelet(deps, { name: node, path: pathOfNode, bootMs }));
    },
    /** Ends the machine and removes its Node and Lease. */
    destroy: (node: string): void => {
      kubelets.get(node)?.();
      kubelets.delete(node);
      store.remove(simKinds.Node, { name: node });
      store.remove(simKinds.Lease, { namespace: nodeLeaseNamespace, name: node });
    },
    cut: (nodes: readonly string[]): void => {
      for (const node of nodes) cut.add(node);
    },
    /** Restores the paths that `cut` has cut. */
    restore: (): void => cut.clear(),
    stop: (): void => {
      for (const stop of kubelets.values()) stop();
    },
  };
};

export type Fleet = ReturnType<typeof createFleet>;
