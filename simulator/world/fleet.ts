import { simKinds } from '../apiserver/index.ts';
import type { ActorDeps, PathToServer } from './actor.ts';
import { type KubeletPath, startKubelet } from './kubelet.ts';
import { nodeLeaseNamespace } from './objects.ts';

export interface FleetOptions {
  readonly namespace: string;
  /** To the API server, where nothing is cut. */
  readonly path: PathToServer;
  readonly isCutOff: (node: string) => boolean;
}

/** The virtual machines of a shoot, each with a kubelet whose path to the API server can be cut. `store` of the deps is the shoot's. */
export const createFleet = (deps: ActorDeps, { namespace, path, isCutOff }: FleetOptions) => {
  const { store } = deps;
  const kubelets = new Map<string, () => void>();
  const cut = new Set<string>();
  let machines = 0;
  return {
    /** A name that no machine of the shoot has had. */
    nameFor: (pool: string): string => {
      machines += 1;
      return `${namespace}-${pool}-${String(machines)}`;
    },
    /** Without `bootMs` it has been running for long; else it comes up after that time and registers its node. */
    start: (node: string, pool: string, bootMs?: number): void => {
      const pathOfNode: KubeletPath = () => {
        if (cut.has(node) || isCutOff(node)) return 'silent';
        const reachability = path();
        return reachability === 'silent' ? 'hung' : reachability;
      };
      kubelets.set(node, startKubelet(deps, { name: node, pool, path: pathOfNode, bootMs }));
    },
    /** Ends the machine; its Node and Lease go too. */
    destroy: (node: string): void => {
      kubelets.get(node)?.();
      kubelets.delete(node);
      store.remove(simKinds.Node, { name: node });
      store.remove(simKinds.Lease, { namespace: nodeLeaseNamespace, name: node });
    },
    cut: (nodes: readonly string[]): void => {
      for (const node of nodes) cut.add(node);
    },
    /** Mends what `cut` cut. */
    restore: (): void => cut.clear(),
    stop: (): void => {
      for (const stop of kubelets.values()) stop();
    },
  };
};

export type Fleet = ReturnType<typeof createFleet>;
