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
import { mergedAbortSignal } from '../kubernetes/client/index.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { ReadyCheck } from '../process/index.ts';
import type { CareSettings } from './settings.ts';

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
  readonly machines: Watched<Machine>;
  readonly extensions: ReadonlyMap<CareExtensionKind, Watched<ExtensionReport>>;
  /** Heartbeat Leases of extensions. */
  readonly heartbeats: Watched<Lease>;
  /** Absent: the age of an extension's report is that of its condition. */
  readonly garden?: GardenSources | undefined;
}

export interface CareSourceDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly seed: Kube;
  /** Absent: the age of an extension's report is that of its condition. */
  readonly garden?: Kube | undefined;
  readonly registry: WatchRegistry;
}

/** The watches of care, over all namespaces: one per kind, whatever the number of shoots. */
export interface CareWatches {
  readonly sources: CareSources;
  /** Without these no shoot can be checked. */
  readonly vital: readonly Informer<unknown>[];
  /** Watches until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** True when each of the other kinds is synced or is not served. */
  isComplete(): boolean;
  checks(): readonly ReadyCheck[];
}

interface Named {
  readonly name: string;
  readonly informer: Informer<unknown>;
}

/** Makes a watch, and remembers it. */
type Watch = <T>(at: {
  readonly kube: Kube;
  readonly path: string;
  readonly project: (json: unknown, path: string) => T;
  /** Name of the only objects to watch. */
  readonly name?: string;
}) => Informer<T>;

const isServed = (informer: Informer<unknown>): boolean => {
  const { lastError } = informer.state();
  return informer.synced || !isApiError(lastError, 'NotFound');
};

const watched = <T>(informer: Informer<T>): Watched<T> => ({
  store: informer,
  // Without the time since: the text goes into conditions, and each difference there is a write.
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
  // A kind that is not served has a detail, but the shoots are checked all the same.
  const ok = informer.synced || !isServed(informer);
  return { name, ok, ...(problem === undefined ? {} : { detail: problem }) };
};

/** Watches nothing until `run`. */
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
    vital: [seedSources.clusters, seedSources.kubeconfigs],
    run: async (signal) => {
      const until = mergedAbortSignal(signal);
      await Promise.all(all.map(({ informer }) => until((end) => informer.run(end))));
    },
    isComplete: () => all.every(({ informer }) => informer.synced || !isServed(informer)),
    checks: () => all.map(checkOf),
  };
};
