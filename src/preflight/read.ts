import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import type { ProberSettings } from '../prober/index.ts';
import type { ShootAnswer } from './checks/api-servers.ts';
import type { SeedRead } from './checks/check.ts';
import { type PreflightObservation, type SeenSecrets, kcmRef } from './checks/check-all.ts';
import type { SeenResources } from './checks/dependents.ts';
import type { KindInput } from './checks/kinds.ts';
import { NoSuchShoot, findShoot, namedShoot } from '../status/state/find-shoot.ts';
import type { SeedAnswer } from './checks/seed.ts';
import { type SeedShoot, probedAmong } from './checks/shoots.ts';
import { type RightsOf, readRights } from './read-rights.ts';
import { readShoots } from './read-clusters.ts';
import { readResources, readSecrets } from './read-objects.ts';
import { readKind, readProbers } from './read-seed.ts';
import { askShoots, judgeSecrets } from './read-shoots.ts';
import type { Reader } from './reader.ts';

export interface PreflightReadOptions {
  readonly settings: ProberSettings;
  /** Shoot to check: the namespace of its control plane, or PROJECT/NAME. Absent for all shoots. */
  readonly shoot?: string | undefined;
  /** Owner of the rights to check. Undefined if no rights are checked. */
  readonly rightsOf: RightsOf | undefined;
  /** True if the API servers of the shoots are checked as well. */
  readonly asksShoots: boolean;
  /** Called with the current step, in one line. */
  readonly progress: (line: string) => void;
}

interface ReadDeps {
  readonly reader: Reader;
  readonly connector: ShootConnector;
}

const clusterKind = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Cluster' };
const machineKind = { apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'Machine' };

const gardenUses = [{ kind: 'cluster' }, { kind: 'machine' }] as const;

const usesOf = ({ clusterSource, dependentResources }: ProberSettings): readonly KindInput['use'][] => [
  ...(clusterSource === undefined ? gardenUses : []),
  ...dependentResources.map((dependent) => ({ kind: 'dependent' as const, ...dependent })),
];

const kindOf = (use: KindInput['use']): Pick<ResourceRef, 'apiVersion' | 'kind'> => {
  if (use.kind === 'cluster') return clusterKind;
  return 'ref' in use ? use.ref : machineKind;
};

const readKinds = (settings: ProberSettings, reader: Reader): Promise<readonly KindInput[]> =>
  Promise.all(usesOf(settings).map(async (use) => ({ use, found: await readKind(reader, kindOf(use)) })));

const chosenAmong = (
  shoots: SeedRead<readonly SeedShoot[]>,
  wanted: string | undefined,
): SeedRead<readonly SeedShoot[]> => {
  if (!shoots.ok || wanted === undefined) return shoots;
  const named = shoots.value.map((shoot) => ({ ...namedShoot(shoot.cluster.name, shoot.cluster.shootName), shoot }));
  const found = findShoot(named, wanted);
  if (found === undefined) throw new NoSuchShoot(wanted, named);
  return { ok: true, value: [found.shoot] };
};

/** Lists each resource once, even if the configuration names it several times. Resources of kinds that are not served are left out. */
const readAllResources = async (
  settings: ProberSettings,
  {
    kinds,
    namespace,
    reader,
  }: { readonly kinds: readonly KindInput[]; readonly namespace?: string; readonly reader: Reader },
): Promise<ReadonlyMap<string, SeedRead<SeenResources>>> => {
  const refs = [kcmRef, ...settings.dependentResources.map(({ ref }) => ref)];
  const unique = new Map(refs.map((ref) => [refKey(ref), ref]));
  const lists = await Promise.all(
    [...unique].map(async ([key, ref]) => {
      const known = kinds.find(({ use }) => 'ref' in use && refKey(use.ref) === key);
      const found = known?.found ?? (await readKind(reader, ref));
      const seen = await readResources(reader, {
        ref,
        found,
        ...(namespace === undefined ? {} : { namespace }),
      });
      return seen === undefined ? [] : [[key, seen] as const];
    }),
  );
  return new Map(lists.flat());
};

type Texts = ReadonlyMap<string, string | undefined>;

interface ShootReads {
  readonly secrets: SeedRead<SeenSecrets>;
  readonly answers: SeedRead<ReadonlyMap<string, ShootAnswer>> | undefined;
}

/** Checks the kubeconfigs, and sends requests to the probed shoots whose kubeconfig is usable. */
const readShootApiServers = async (
  {
    asksShoots,
    progress,
    shoots,
    texts,
    seed,
  }: PreflightReadOptions & {
    readonly shoots: SeedRead<readonly SeedShoot[]>;
    readonly texts: SeedRead<Texts>;
    readonly seed: SeedAnswer;
  },
  { reader, connector }: ReadDeps,
): Promise<ShootReads> => {
  const secrets = judgeSecrets(connector, texts);
  if (!asksShoots) return { secrets, answers: undefined };
  if (!texts.ok) return { secrets, answers: texts };
  const probed = shoots.ok ? probedAmong(shoots.value) : [];
  const kubeconfigs = new Map<string, string>();
  for (const { namespace } of probed) {
    const text = texts.value.get(namespace);
    const isUsable = secrets.ok && secrets.value.get(namespace)?.kind === 'usable';
    if (text !== undefined && isUsable) kubeconfigs.set(namespace, text);
  }
  const reportProgress = (done: number): void =>
    progress(`checking the API servers of shoots: ${String(done)} of ${String(kubeconfigs.size)}`);
  const asked = { connector, kubeconfigs, seedSkewMs: seed.skewMs, progress: reportProgress };
  return { secrets, answers: { ok: true, value: await askShoots(asked, reader) } };
};

/** Reads all data for the checks, and writes nothing. Rejects with a NoSuchShoot, or with `signal.reason`. */
export const readAll = async (
  options: PreflightReadOptions,
  seed: SeedAnswer,
  deps: ReadDeps,
): Promise<PreflightObservation> => {
  const { settings, shoot, rightsOf, progress } = options;
  const { reader, connector } = deps;
  progress('reading the Clusters of the seed');
  const [probers, kinds, all] = await Promise.all([
    readProbers(reader, seed),
    readKinds(settings, reader),
    readShoots(reader, settings),
  ]);
  const shoots = chosenAmong(all, shoot);
  const only = shoot !== undefined && shoots.ok ? shoots.value[0]?.cluster.name : undefined;
  const place = only === undefined ? {} : { namespace: only };
  progress('reading Secrets, dependent resources and rights');
  const { externalProbe } = settings;
  const [texts, externalTexts, resources, rights] = await Promise.all([
    readSecrets(reader, { settings, name: settings.kubeConfigSecretName, ...place }),
    externalProbe && readSecrets(reader, { settings, name: externalProbe.kubeConfigSecretName, ...place }),
    readAllResources(settings, { kinds, reader, ...place }),
    rightsOf && readRights(reader, { settings, of: rightsOf }),
  ]);
  const reads = await readShootApiServers({ ...options, shoots, texts, seed }, deps);
  const externalSecrets = externalTexts && judgeSecrets(connector, externalTexts);
  return { settings, seed, probers, kinds, rights, shoots, resources, externalSecrets, ...reads };
};
