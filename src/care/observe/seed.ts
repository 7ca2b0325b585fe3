import { type CareShoot, decodeCareCluster } from '../../gardener/care-shoots.ts';
import { decodeEtcdHealth } from '../../gardener/etcd.ts';
import {
  type ExtensionReport,
  careExtensionKinds,
  decodeControllerInstallation,
  decodeControllerRegistration,
  decodeExtensionReport,
  heartbeatLeaseName,
} from '../../gardener/extensions.ts';
import { decodeControlPlaneDeployment } from '../../gardener/workloads.ts';
import { decodeMachine } from '../../gardener/machine.ts';
import { decodeMachineDeploymentHealth } from '../../gardener/machine-deployment.ts';
import { decodeManagedResourceHealth } from '../../gardener/managed-resource.ts';
import { isApiError } from '../../kubernetes/api/errors.ts';
import { goQuote } from '../../kubernetes/api/go-quote.ts';
import type { Kube } from '../../kubernetes/api/kube.ts';
import { decodeLease, renewedAtMs } from '../../kubernetes/api/lease.ts';
import {
  type Informer,
  type InformerDeps,
  createInformer,
  indexByNamespace,
  longestSilenceMs,
} from '../../kubernetes/cache/index.ts';
import { decodeKubeconfigSecret } from '../../kubernetes/kubeconfig/index.ts';
import type { ReadyCheck } from '../../process/index.ts';
import type { CareSettings } from '../config.ts';
import {
  type ExtensionHeartbeat,
  type ExtensionObservation,
  type Read,
  type SeedObservation,
  hasWorkers,
} from '../judge/observation.ts';

/** False if a list is still to come: a kind that the API server does not serve has no objects. */
const isListed = (informer: Informer<unknown>): boolean =>
  informer.synced || isApiError(informer.state().lastError, 'NotFound');

/** The watched objects of one kind, of all namespaces. */
class Watched<T> {
  readonly #informer: Informer<T>;
  readonly #of: (namespace: string) => ReadonlyMap<string, T>;

  constructor(informer: Informer<T>) {
    this.#informer = informer;
    this.#of = indexByNamespace(informer);
  }

  /** True if the objects are known as they are now: the watch is open, or has been lost for no longer than any watch may be silent. gardenlet has no such limit. */
  get isCurrent(): boolean {
    return this.#informer.synced && this.#informer.interruptedMs() <= longestSilenceMs;
  }

  /** True if the API server does not serve the kind, so that there are no such objects. */
  get isUnserved(): boolean {
    return !this.isCurrent && isApiError(this.#informer.state().lastError, 'NotFound');
  }

  get(key: string): T | undefined {
    return this.#informer.get(key);
  }

  values(): readonly T[] {
    return Array.from(this.#informer.entries(), ([, value]) => value);
  }

  /** Returns the objects of a namespace in the order of their names, as the API server lists them. */
  list(namespace: string): Read<readonly T[]> {
    return this.ifCurrent(() => {
      const objects = [...this.#of(namespace)].sort(([a], [b]) => (a < b ? -1 : 1));
      return objects.map(([, value]) => value);
    });
  }

  /** The error has no duration, because it becomes part of conditions, and each difference there is a write. */
  ifCurrent<R>(read: () => R): Read<R> {
    if (this.isCurrent) return { ok: true, value: read() };
    const { synced, lastError } = this.#informer.state();
    const unheard = synced ? 'nothing is heard of their watch' : 'they have not been listed yet';
    return { ok: false, error: lastError?.message ?? unheard, isPending: lastError === undefined };
  }
}

/** All watched objects of control planes. Each check reads objects of the shoots themselves instead. */
export type CareSources = CareWatches['sources'];

const none = (missing: string): ExtensionHeartbeat => ({ kind: 'none', missing });

/** Finds the heartbeat of the extension that is responsible for an object: the garden names the extension, and the seed has its Lease. */
const heartbeatOf = (
  { garden, heartbeats }: CareSources,
  { kind, type }: { readonly kind: string; readonly type: string },
  seedName: string,
): ExtensionHeartbeat => {
  if (garden === undefined) return { kind: 'own' };
  const { registrations, installations } = garden;
  if (!registrations.isCurrent || !installations.isCurrent || !heartbeats.isCurrent) return { kind: 'unknown' };
  const inCharge = new Set<string>();
  for (const { name, resources } of registrations.values()) {
    if (resources.some((resource) => resource.kind === kind && resource.type === type)) inCharge.add(name);
  }
  if (inCharge.size === 0) return none(`no ControllerRegistration for ${kind} and type ${goQuote(type)}`);
  const installation = installations
    .values()
    .find(({ registration, seed }) => inCharge.has(registration) && (seedName === '' || seed === seedName));
  if (installation === undefined) {
    const where = seedName === '' ? '' : ` for the seed ${seedName}`;
    return none(`no ControllerInstallation of ${[...inCharge].join(', ')}${where}`);
  }
  const key = `extension-${installation.name}/${heartbeatLeaseName}`;
  const lease = heartbeats.get(key);
  const renewedAt = lease && renewedAtMs(lease);
  return renewedAt === undefined ? none(`no heartbeat in Lease ${key}`) : { kind: 'lease', renewedAt };
};

/** Lists the objects of one kind that belong to the shoot. */
const reportsOf = (
  { scope, watched }: CareSources['extensions'][number],
  namespace: string,
  shoot: CareShoot,
): Read<readonly ExtensionReport[]> => {
  const isRelevant = scope !== 'workers' || hasWorkers(shoot);
  if (watched.isUnserved || !isRelevant) return { ok: true, value: [] };
  if (scope !== 'cluster') return watched.list(namespace);
  // The name that gardenlet gives to the BackupEntry of a shoot.
  return watched.ifCurrent(() => {
    const entry = watched.get(`${namespace}--${shoot.uid}`);
    return entry === undefined ? [] : [entry];
  });
};

/** Observes a control plane in the seed: reads watched objects, and sends no request. */
export const observeSeed = (sources: CareSources, namespace: string, shoot: CareShoot): SeedObservation => {
  const { deployments, etcds, managedResources, machineDeployments, machines } = sources;
  return {
    deployments: deployments.list(namespace),
    etcds: etcds.list(namespace),
    managedResources: managedResources.list(namespace),
    machineDeployments: machineDeployments.list(namespace),
    machines: machines.list(namespace),
    extensions: sources.extensions.flatMap((of): readonly Read<ExtensionObservation>[] => {
      const { kind } = of;
      const reports = reportsOf(of, namespace, shoot);
      if (!reports.ok) return [reports];
      return reports.value.map((report) => {
        const heartbeat = heartbeatOf(sources, { kind, type: report.type }, shoot.seedName);
        return { ok: true, value: { ...report, kind, heartbeat } };
      });
    }),
  };
};

export interface CareWatchDeps extends InformerDeps {
  readonly seed: Kube;
  /** Transport to the garden. If absent, the age of an extension's report is that of its condition. */
  readonly garden?: Kube | undefined;
}

const checkOf = (name: string, informer: Informer<unknown>): ReadyCheck => {
  const { problem } = informer.state();
  // A kind that is not served has a detail, but does not prevent checks.
  return { name, ok: isListed(informer), detail: problem };
};

/** Creates the watches of care: one per kind over all namespaces, for any number of shoots. They start with `run`. */
export const createCareWatches = ({ kubeConfigSecretName }: CareSettings, deps: CareWatchDeps) => {
  const { seed, garden } = deps;
  const all = new Map<string, Informer<unknown>>();
  const watch = <T>(kube: Kube, path: string, project: (json: unknown, path: string) => T, name?: string) => {
    const query = name === undefined ? {} : { query: { fieldSelector: `metadata.name=${name}` } };
    const informer = createInformer({ ...deps, kube, path: `/${path}`, project, ...query });
    all.set(path.slice(path.lastIndexOf('/') + 1), informer);
    return informer;
  };
  const of = <T>(path: string, project: (json: unknown, path: string) => T, name?: string) =>
    new Watched(watch(seed, path, project, name));
  const inGarden = <T>(kube: Kube, resource: string, project: (json: unknown, path: string) => T) =>
    new Watched(watch(kube, `apis/core.gardener.cloud/v1beta1/${resource}`, project));
  const mcm = 'apis/machine.sapcloud.io/v1alpha1';
  const extensions = 'apis/extensions.gardener.cloud/v1alpha1';
  return {
    clusters: watch(seed, `${extensions}/clusters`, decodeCareCluster),
    /** Texts of kubeconfigs, by `namespace/name` of their Secret. */
    kubeconfigs: watch(seed, 'api/v1/secrets', decodeKubeconfigSecret, kubeConfigSecretName),
    sources: {
      deployments: of('apis/apps/v1/deployments', decodeControlPlaneDeployment),
      etcds: of('apis/druid.gardener.cloud/v1alpha1/etcds', decodeEtcdHealth),
      managedResources: of('apis/resources.gardener.cloud/v1alpha1/managedresources', decodeManagedResourceHealth),
      machineDeployments: of(`${mcm}/machinedeployments`, decodeMachineDeploymentHealth),
      machines: of(`${mcm}/machines`, decodeMachine),
      /** In the order of the checks. */
      extensions: careExtensionKinds.map((info) => {
        return { ...info, watched: of(`${extensions}/${info.resource}`, decodeExtensionReport) };
      }),
      /** Heartbeat Leases of extensions. */
      heartbeats: of('apis/coordination.k8s.io/v1/leases', decodeLease, heartbeatLeaseName),
      /** Objects that show which extension is responsible for which kinds and types. */
      garden: garden && {
        registrations: inGarden(garden, 'controllerregistrations', decodeControllerRegistration),
        installations: inGarden(garden, 'controllerinstallations', decodeControllerInstallation),
      },
    },
    /** Runs the watches until `signal` aborts. */
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all(Array.from(all.values(), (informer) => informer.run(signal)));
    },
    /** True if each kind is listed or not served. */
    isComplete: (): boolean => [...all.values()].every(isListed),
    checks: (): readonly ReadyCheck[] => Array.from(all, ([name, informer]) => checkOf(name, informer)),
  };
};

export type CareWatches = ReturnType<typeof createCareWatches>;
