import type { CareShoot } from '../gardener/care-shoots.ts';
import { type ExtensionReport, careExtensionKinds, heartbeatLeaseName } from '../gardener/extensions.ts';
import { goQuote } from '../kubernetes/api/go-quote.ts';
import { renewedAtMs } from '../kubernetes/api/lease.ts';
import {
  type ExtensionHeartbeat,
  type ExtensionObservation,
  type Read,
  type SeedObservation,
  hasWorkers,
} from './checks/observation.ts';
import { NamespaceIndex } from './namespace-index.ts';
import type { CareSources, Watched } from './sources.ts';

type ExtensionKindInfo = (typeof careExtensionKinds)[number];

const notListed = <T>({ problem }: Watched<T>): string => problem() ?? 'they have not been listed yet';

/** Reads the watched objects of one kind, namespace by namespace. */
class WatchedReader<T> {
  readonly #watched: Watched<T>;
  readonly #index: NamespaceIndex<T>;

  constructor(watched: Watched<T>) {
    this.#watched = watched;
    this.#index = new NamespaceIndex(watched.store);
  }

  list(namespace: string): Read<readonly T[]> {
    if (!this.#watched.store.synced) return { ok: false, error: notListed(this.#watched) };
    return { ok: true, value: this.#index.in(namespace) };
  }

  close(): void {
    this.#index.close();
  }
}

const none = (missing: string): ExtensionHeartbeat => ({ kind: 'none', missing });

/** Finds the heartbeat of the extension that is responsible for an object: the garden names the extension, and the seed has its Lease. */
const heartbeatOf = (
  { garden, heartbeats }: CareSources,
  { kind, type }: { readonly kind: string; readonly type: string },
  seedName: string,
): ExtensionHeartbeat => {
  if (garden === undefined) return { kind: 'own' };
  const { registrations, installations } = garden;
  if (![registrations, installations, heartbeats].every(({ store }) => store.synced)) return { kind: 'unknown' };
  const inCharge = new Set<string>();
  for (const [, { name, resources }] of registrations.store.entries()) {
    if (resources.some((resource) => resource.kind === kind && resource.type === type)) inCharge.add(name);
  }
  if (inCharge.size === 0) return none(`no ControllerRegistration for ${kind} and type ${goQuote(type)}`);
  for (const [, { name, registration, seed }] of installations.store.entries()) {
    if (!inCharge.has(registration) || (seedName !== '' && seed !== seedName)) continue;
    const key = `extension-${name}/${heartbeatLeaseName}`;
    const lease = heartbeats.store.get(key);
    const renewedAt = lease && renewedAtMs(lease);
    return renewedAt === undefined ? none(`no heartbeat in Lease ${key}`) : { kind: 'lease', renewedAt };
  }
  const where = seedName === '' ? '' : ` for the seed ${seedName}`;
  return none(`no ControllerInstallation of ${[...inCharge].join(', ')}${where}`);
};

/** Observes control planes in the seed. It reads watched objects from their stores and sends no request. */
export class SeedObserver {
  readonly #sources: CareSources;
  readonly #readers;
  readonly #extensions: ReadonlyMap<string, WatchedReader<ExtensionReport>>;

  constructor(sources: CareSources) {
    this.#sources = sources;
    this.#readers = {
      deployments: new WatchedReader(sources.deployments),
      etcds: new WatchedReader(sources.etcds),
      managedResources: new WatchedReader(sources.managedResources),
      machineDeployments: new WatchedReader(sources.machineDeployments),
      machines: new WatchedReader(sources.machines),
    };
    this.#extensions = new Map(Array.from(sources.extensions, ([kind, watched]) => [kind, new WatchedReader(watched)]));
  }

  observe(namespace: string, shoot: CareShoot): SeedObservation {
    const { deployments, etcds, managedResources, machineDeployments, machines } = this.#readers;
    return {
      deployments: deployments.list(namespace),
      etcds: etcds.list(namespace),
      managedResources: managedResources.list(namespace),
      machineDeployments: machineDeployments.list(namespace),
      machines: machines.list(namespace),
      extensions: careExtensionKinds
        .filter(({ scope }) => scope !== 'workers' || hasWorkers(shoot))
        .map((info) => this.#observeExtensions(info, namespace, shoot)),
    };
  }

  close(): void {
    for (const reader of [...Object.values(this.#readers), ...this.#extensions.values()]) reader.close();
  }

  #observeExtensions(info: ExtensionKindInfo, namespace: string, { uid, seedName }: CareShoot): ExtensionObservation {
    const { kind } = info;
    const reports = this.#reportsOf(info, namespace, uid);
    if (!reports.ok) return { kind, reports };
    const value = reports.value.map((report) => ({
      ...report,
      heartbeat: heartbeatOf(this.#sources, { kind, type: report.type }, seedName),
    }));
    return { kind, reports: { ok: true, value } };
  }

  #reportsOf({ kind, scope }: ExtensionKindInfo, namespace: string, uid: string): Read<readonly ExtensionReport[]> {
    const watched = this.#sources.extensions.get(kind);
    const reader = this.#extensions.get(kind);
    if (watched === undefined || reader === undefined || watched.isServed?.() === false) return { ok: true, value: [] };
    if (scope !== 'cluster') return reader.list(namespace);
    if (!watched.store.synced) return { ok: false, error: notListed(watched) };
    // The name that gardenlet gives to the BackupEntry of a shoot.
    const entry = watched.store.get(`${namespace}--${uid}`);
    return { ok: true, value: entry === undefined ? [] : [entry] };
  }
}
