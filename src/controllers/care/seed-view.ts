import { type CareShoot, careExtensionKinds, type ExtensionReport, heartbeatLeaseName } from '../../domain/index.ts';
import {
  type ExtensionView,
  hasWorkers,
  type HeardReport,
  type HeartbeatView,
  type Read,
  type SeedView,
} from './observation.ts';
import { type CareSources, indexByNamespace, type NamespaceIndex, type Watched } from './watched.ts';

/** The control planes of a seed, from what is watched. */
export interface SeedObserver {
  look(namespace: string, shoot: CareShoot): SeedView;
  close(): void;
}

type ExtensionKindView = (typeof careExtensionKinds)[number];

const notListed = <T>({ problem }: Watched<T>): string => problem() ?? 'they have not been listed yet';

const readerOf = <T>(watched: Watched<T>) => {
  const index: NamespaceIndex<T> = indexByNamespace(watched.store);
  return {
    read: (namespace: string): Read<readonly T[]> =>
      watched.store.synced ? { ok: true, value: index.in(namespace) } : { ok: false, error: notListed(watched) },
    close: () => index.close(),
  };
};

/** Extensions are asked of the garden who they are, and of the seed whether they are alive. */
const heartbeatsFrom =
  ({ garden, heartbeats }: CareSources) =>
  (kind: string, type: string, seedName: string): HeartbeatView => {
    if (garden === undefined) return { kind: 'own' };
    const { registrations, installations } = garden;
    if (![registrations, installations, heartbeats].every(({ store }) => store.synced)) return { kind: 'unknown' };
    const inCharge = new Set<string>();
    for (const [, { name, resources }] of registrations.store.entries()) {
      if (resources.some((resource) => resource.kind === kind && resource.type === type)) inCharge.add(name);
    }
    for (const [, { name, registration, seed }] of installations.store.entries()) {
      if (!inCharge.has(registration) || (seedName !== '' && seed !== seedName)) continue;
      const heartbeat = heartbeats.store.get(`extension-${name}/${heartbeatLeaseName}`);
      return { kind: 'lease', renewedAt: heartbeat?.renewedAt };
    }
    return { kind: 'lease', renewedAt: undefined };
  };

/** Watches nothing itself; keeps what is watched at hand by namespace. */
export const createSeedObserver = (sources: CareSources): SeedObserver => {
  const deployments = readerOf(sources.deployments);
  const etcds = readerOf(sources.etcds);
  const managedResources = readerOf(sources.managedResources);
  const machineDeployments = readerOf(sources.machineDeployments);
  const machines = readerOf(sources.machines);
  const extensions = new Map(
    Array.from(sources.extensions, ([kind, watched]) => [kind, { watched, reader: readerOf(watched) }]),
  );
  const heartbeatOf = heartbeatsFrom(sources);

  const reportsOf = (
    { kind, scope }: ExtensionKindView,
    namespace: string,
    uid: string,
  ): Read<readonly ExtensionReport[]> => {
    const source = extensions.get(kind);
    if (source === undefined || source.watched.isServed?.() === false) return { ok: true, value: [] };
    if (scope !== 'cluster') return source.reader.read(namespace);
    const { store } = source.watched;
    if (!store.synced) return { ok: false, error: notListed(source.watched) };
    // As gardenlet names the BackupEntry of a shoot.
    const entry = store.get(`${namespace}--${uid}`);
    return { ok: true, value: entry === undefined ? [] : [entry] };
  };

  const extensionsOf = (namespace: string, shoot: CareShoot): readonly ExtensionView[] =>
    careExtensionKinds
      .filter(({ scope }) => scope !== 'workers' || hasWorkers(shoot))
      .map((extension) => {
        const { kind } = extension;
        const reports = reportsOf(extension, namespace, shoot.uid);
        if (!reports.ok) return { kind, reports };
        const heard: readonly HeardReport[] = reports.value.map((report) => ({
          ...report,
          heartbeat: heartbeatOf(kind, report.type, shoot.seedName),
        }));
        return { kind, reports: { ok: true, value: heard } };
      });

  const readers = [deployments, etcds, managedResources, machineDeployments, machines];
  return {
    look: (namespace, shoot) => ({
      deployments: deployments.read(namespace),
      etcds: etcds.read(namespace),
      managedResources: managedResources.read(namespace),
      machineDeployments: machineDeployments.read(namespace),
      machines: machines.read(namespace),
      extensions: extensionsOf(namespace, shoot),
    }),
    close: () => {
      for (const { close } of readers) close();
      for (const { reader } of extensions.values()) reader.close();
    },
  };
};
