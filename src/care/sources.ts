import { type CareCluster, decodeCareCluster } from '../gardener/care-shoots.ts';
import { type EtcdHealth, decodeEtcdHealth } from '../gardener/etcd.ts';
import {
  type CareExtensionKind,
  type ControllerInstallation,
  type ControllerRegistration,
  type ExtensionReport,
  careExtensionKinds,
  decodeControllerInstallation,
  decodeControllerRegistration,
  decodeExtensionReport,
  heartbeatLeaseName,
} from '../gardener/extensions.ts';
import { type ControlPlaneDeployment, decodeControlPlaneDeployment } from '../gardener/health-workloads.ts';
import { type Machine, decodeMachine } from '../gardener/machine.ts';
import { type MachineDeploymentHealth, decodeMachineDeploymentHealth } from '../gardener/machine-deployment.ts';
import { type ManagedResourceHealth, decodeManagedResourceHealth } from '../gardener/managed-resource.ts';
import { isApiError } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type Lease, decodeLease } from '../kubernetes/api/lease.ts';
import { type Store, type Informer, type WatchRegistry, createInformer } from '../kubernetes/cache/index.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { ReadyCheck } from '../process/index.ts';
import type { CareSettings } from './settings.ts';

/** The watched objects of one kind, of all namespaces. */
export interface Watched<T> {
  readonly store: Store<T>;
  /** Returns why the store is not up to date, or undefined while it is. */
  readonly problem: () => string | undefined;
  /** False if the API server does not serve the kind, so that there are no such objects. Absent if it always serves it. */
  readonly isServed?: () => boolean;
}

/** Objects of the garden that show which extension is responsible for which kinds and types. */
export interface GardenSources {
  readonly registrations: Watched<ControllerRegistration>;
  readonly installations: Watched<ControllerInstallation>;
}

/** All watched objects of seed and garden. Each check reads objects of the shoots themselves instead. */
export interface CareSources {
  readonly clusters: Store<CareCluster>;
  /** Texts of kubeconfigs, by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
  readonly deployments: Watched<ControlPlaneDeployment>;
  readonly etcds: Watched<EtcdHealth>;
  readonly managedResources: Watched<ManagedResourceHealth>;
  readonly machineDeployments: Watched<MachineDeploymentHealth>;
  readonly machines: Watched<Machine>;
  readonly extensions: ReadonlyMap<CareExtensionKind, Watched<ExtensionReport>>;
  /** Heartbeat Leases of extensions. */
  readonly heartbeats: Watched<Lease>;
  /** Objects of the garden. If absent, the age of an extension's report is that of its condition. */
  readonly garden?: GardenSources | undefined;
}

export interface CareSourceDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly seed: Kube;
  /** Transport to the garden. If absent, the age of an extension's report is that of its condition. */
  readonly garden?: Kube | undefined;
  readonly registry: WatchRegistry;
}

/** The watches of care: one per kind over all namespaces, for any number of shoots. */
export interface CareWatches {
  readonly sources: CareSources;
  /** Informers that every check needs. */
  readonly required: readonly Informer<unknown>[];
  /** Runs the watches until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** True if each kind is synced or not served. */
  isComplete(): boolean;
  checks(): readonly ReadyCheck[];
}

interface Named {
  readonly name: string;
  readonly informer: Informer<unknown>;
}

/** Creates an informer and adds it to the watches. */
type Watch = <T>(at: {
  readonly kube: Kube;
  readonly path: string;
  readonly project: (json: unknown, path: string) => T;
  /** Name of the objects to watch; absent for all names. */
  readonly name?: string;
}) => Informer<T>;

const isServed = (informer: Informer<unknown>): boolean => {
  const { lastError } = informer.state();
  return informer.synced || !isApiError(lastError, 'NotFound');
};

const watched = <T>(informer: Informer<T>): Watched<T> => ({
  store: informer,
  // The text has no duration, because it becomes part of conditions, and each difference there is a write.
  problem: () => informer.state().lastError?.message,
  isServed: () => isServed(informer),
});

const watchGarden = (watch: Watch, kube: Kube): GardenSources => {
  const core = '/apis/core.gardener.cloud/v1beta1';
  const registrations = { kube, path: `${core}/controllerregistrations`, project: decodeControllerRegistration };
  const installations = { kube, path: `${core}/controllerinstallations`, project: decodeControllerInstallation };
  return { registrations: watched(watch(registrations)), installations: watched(watch(installations)) };
};

const watchSeed = (watch: Watch, kube: Kube, settings: CareSettings) => {
  const machines = '/apis/machine.sapcloud.io/v1alpha1';
  const extensions = '/apis/extensions.gardener.cloud/v1alpha1';
  const of = <T>(path: string, project: (json: unknown, path: string) => T, name?: string): Informer<T> =>
    watch({ kube, path, project, ...(name === undefined ? {} : { name }) });
  return {
    clusters: of(`${extensions}/clusters`, decodeCareCluster),
    kubeconfigs: of('/api/v1/secrets', decodeKubeconfigSecret, settings.kubeConfigSecretName),
    deployments: watched(of('/apis/apps/v1/deployments', decodeControlPlaneDeployment)),
    etcds: watched(of('/apis/druid.gardener.cloud/v1alpha1/etcds', decodeEtcdHealth)),
    managedResources: watched(
      of('/apis/resources.gardener.cloud/v1alpha1/managedresources', decodeManagedResourceHealth),
    ),
    machineDeployments: watched(of(`${machines}/machinedeployments`, decodeMachineDeploymentHealth)),
    machines: watched(of(`${machines}/machines`, decodeMachine)),
    extensions: new Map(
      careExtensionKinds.map(({ kind, resource }) => [
        kind,
        watched(of(`${extensions}/${resource}`, decodeExtensionReport)),
      ]),
    ),
    heartbeats: watched(of('/apis/coordination.k8s.io/v1/leases', decodeLease, heartbeatLeaseName)),
  };
};

const checkOf = ({ name, informer }: Named): ReadyCheck => {
  const { problem } = informer.state();
  // A kind that is not served has a detail, but does not prevent checks.
  const ok = informer.synced || !isServed(informer);
  return { name, ok, ...(problem === undefined ? {} : { detail: problem }) };
};

/** Creates the watches. They start with `run`. */
export const createCareWatches = (settings: CareSettings, deps: CareSourceDeps): CareWatches => {
  const { seed, garden } = deps;
  const all: Named[] = [];
  const watch: Watch = ({ kube, path, project, name }) => {
    const query = name === undefined ? {} : { query: { fieldSelector: `metadata.name=${name}` } };
    const informer = createInformer({ ...deps, kube, path, project, ...query });
    all.push({ name: path.slice(path.lastIndexOf('/') + 1), informer });
    return informer;
  };
  const seedSources = watchSeed(watch, seed, settings);
  const sources = { ...seedSources, garden: garden && watchGarden(watch, garden) };
  return {
    sources,
    required: [seedSources.clusters, seedSources.kubeconfigs],
    run: async (signal) => {
      await Promise.all(all.map(({ informer }) => informer.run(signal)));
    },
    isComplete: () => all.every(({ informer }) => informer.synced || !isServed(informer)),
    checks: () => all.map(checkOf),
  };
};
