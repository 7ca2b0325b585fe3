import type {
  CareCluster,
  CareDeployment,
  CareExtensionKind,
  ControllerInstallation,
  ControllerRegistration,
  EtcdHealth,
  ExtensionReport,
  Heartbeat,
  MachineDeploymentHealth,
  MachineProgress,
  ManagedResourceHealth,
} from '../../domain/index.ts';
import type { Store } from '../../ports/index.ts';

/** Objects of one kind, of all namespaces. */
export interface Watched<T> {
  readonly store: Store<T>;
  /** Why the store is not in step with the API server; undefined while it is. */
  readonly problem: () => string | undefined;
  /** False when the API server does not serve the kind: of an extension kind there is none then. Absent: it does. */
  readonly isServed?: () => boolean;
}

/** Which extension is in charge of what; in the garden. */
export interface GardenSources {
  readonly registrations: Watched<ControllerRegistration>;
  readonly installations: Watched<ControllerInstallation>;
}

/** All that is watched for the health of shoots. What is read per run instead is in their own clusters. */
export interface CareSources {
  readonly clusters: Store<CareCluster>;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
  readonly deployments: Watched<CareDeployment>;
  readonly etcds: Watched<EtcdHealth>;
  readonly managedResources: Watched<ManagedResourceHealth>;
  readonly machineDeployments: Watched<MachineDeploymentHealth>;
  readonly machines: Watched<MachineProgress>;
  readonly extensions: ReadonlyMap<CareExtensionKind, Watched<ExtensionReport>>;
  /** Leases by which extensions say that they are alive. */
  readonly heartbeats: Watched<Heartbeat>;
  /** Absent: there is no garden to ask, and extensions are as fresh as their conditions. */
  readonly garden?: GardenSources | undefined;
}

/** The objects of a store by their namespace, so that a run does not go through those of all shoots. */
export interface NamespaceIndex<T> {
  /** In the order of their names, as the API server lists them. */
  in(namespace: string): readonly T[];
  close(): void;
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(key.indexOf('/'), 0));

export const indexByNamespace = <T>(store: Store<T>): NamespaceIndex<T> => {
  const namespaces = new Map<string, Map<string, T>>();
  const set = (key: string, value: T): void => {
    const namespace = namespaceOf(key);
    const objects = namespaces.get(namespace) ?? new Map<string, T>();
    namespaces.set(namespace, objects.set(key, value));
  };
  const remove = (key: string): void => {
    const objects = namespaces.get(namespaceOf(key));
    objects?.delete(key);
    if (objects?.size === 0) namespaces.delete(namespaceOf(key));
  };
  const unsubscribe = store.subscribe(({ type, key, value }) => (type === 'set' ? set(key, value) : remove(key)));
  for (const [key, value] of store.entries()) set(key, value);
  return {
    in: (namespace) =>
      [...(namespaces.get(namespace) ?? [])].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, value]) => value),
    close: unsubscribe,
  };
};
