import { simKinds } from '../apiserver/index.ts';
import type { Reachability } from '../network/index.ts';
import type { ActorDeps, Path } from './actor.ts';
import { startKubelet } from './kubelet.ts';
import { nodeLeaseNamespace } from './objects.ts';

/** The virtual machines of a shoot, each with a kubelet whose path to the API server can be cut. */
export interface Fleet {
  /** A name that no machine of the shoot has had. */
  nameFor(pool: string): string;
  /** Without `bootMs` it has been running for long; else it comes up after that time and registers its node. */
  start(node: string, pool: string, bootMs?: number): void;
  /** Ends the machine; its Node and Lease go too. */
  destroy(node: string): void;
  cut(nodes: readonly string[]): void;
  /** Mends what `cut` cut. */
  restore(): void;
  stop(): void;
}

export interface FleetOptions {
  readonly namespace: string;
  /** To the API server, where nothing is cut. */
  readonly path: Path;
  readonly isCutOff: () => boolean;
}

/** `store` of the deps is the shoot's. */
export const createFleet = (deps: ActorDeps, { namespace, path, isCutOff }: FleetOptions): Fleet => {
  const { store } = deps;
  const kubelets = new Map<string, () => void>();
  const cut = new Set<string>();
  let machines = 0;
  return {
    nameFor: (pool) => {
      machines += 1;
      return `${namespace}-${pool}-${String(machines)}`;
    },
    start: (node, pool, bootMs) => {
      const pathOfNode = (): Reachability => (cut.has(node) || isCutOff() ? 'silent' : path());
      const boot = bootMs === undefined ? {} : { bootMs };
      kubelets.set(node, startKubelet(deps, { name: node, pool, path: pathOfNode, ...boot }));
    },
    destroy: (node) => {
      kubelets.get(node)?.();
      kubelets.delete(node);
      store.remove(simKinds.Node, { name: node });
      store.remove(simKinds.Lease, { namespace: nodeLeaseNamespace, name: node });
    },
    cut: (nodes) => {
      for (const node of nodes) cut.add(node);
    },
    restore: () => cut.clear(),
    stop: () => {
      for (const stop of kubelets.values()) stop();
    },
  };
};
