import type { Heartbeat } from '../gardener/care-reads.ts';
import type { CareCluster } from '../gardener/care-shoots.ts';
import type { EtcdHealth } from '../gardener/etcd.ts';
import type {
  CareExtensionKind,
  ControllerInstallation,
  ControllerRegistration,
  ExtensionReport,
} from '../gardener/extensions.ts';
import type { MachineDeploymentHealth } from '../gardener/health-nodes.ts';
import type { ControlPlaneDeployment } from '../gardener/health-workloads.ts';
import type { MachineProgress } from '../gardener/machine-scaling.ts';
import type { ManagedResourceHealth } from '../gardener/managed-resource.ts';
import type { Store } from '../kubernetes/cache/index.ts';

/** Objects of one kind, of all namespaces. */
export interface Watched<T> {
  readonly store: Store<T>;
  /** Why the store is not up to date; undefined while it is. */
  readonly problem: () => string | undefined;
  /** False if the API server does not serve the kind, so that there are no such objects. Absent: it does. */
  readonly isServed?: () => boolean;
}

/** In the garden: which extension is in charge of which kinds and types. */
export interface GardenSources {
  readonly registrations: Watched<ControllerRegistration>;
  readonly installations: Watched<ControllerInstallation>;
}

/** All that is watched in seed and garden. Objects of the shoots themselves are read in each check instead. */
export interface CareSources {
  readonly clusters: Store<CareCluster>;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
  readonly deployments: Watched<ControlPlaneDeployment>;
  readonly etcds: Watched<EtcdHealth>;
  readonly managedResources: Watched<ManagedResourceHealth>;
  readonly machineDeployments: Watched<MachineDeploymentHealth>;
  readonly machines: Watched<MachineProgress>;
  readonly extensions: ReadonlyMap<CareExtensionKind, Watched<ExtensionReport>>;
  /** Heartbeat Leases of extensions. */
  readonly heartbeats: Watched<Heartbeat>;
  /** Absent: the age of an extension's report is that of its condition. */
  readonly garden?: GardenSources | undefined;
}

/** The objects of a store by namespace, so that a check of one shoot does not go through the objects of all. */
export class NamespaceIndex<T> {
  readonly #namespaces = new Map<string, Map<string, T>>();
  readonly #unsubscribe: () => void;

  constructor(store: Store<T>) {
    this.#unsubscribe = store.subscribe(({ type, key, value }) => {
      if (type === 'set') this.#set(key, value);
      else this.#remove(key);
    });
    for (const [key, value] of store.entries()) this.#set(key, value);
  }

  /** In the order of their names, as the API server lists them. */
  in(namespace: string): readonly T[] {
    const objects = [...(this.#namespaces.get(namespace) ?? [])];
    return objects.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, value]) => value);
  }

  close(): void {
    this.#unsubscribe();
  }

  #set(key: string, value: T): void {
    const namespace = namespaceOf(key);
    const objects = this.#namespaces.get(namespace) ?? new Map<string, T>();
    this.#namespaces.set(namespace, objects.set(key, value));
  }

  #remove(key: string): void {
    const namespace = namespaceOf(key);
    const objects = this.#namespaces.get(namespace);
    objects?.delete(key);
    if (objects?.size === 0) this.#namespaces.delete(namespace);
  }
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(key.indexOf('/'), 0));
