import { decodeCluster } from '../gardener/cluster.ts';
import { decodeTemplateContainers } from '../gardener/kube-controller-manager.ts';
import type { Right } from '../kubernetes/api/access.ts';
import type { Call } from '../kubernetes/api/call.ts';
import {
  type ObjectMeta,
  childObject,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { type ResourceRef, groupOf } from '../kubernetes/api/resource-ref.ts';
import { groupVersionPath, listKinds, listVersions, resolveKind } from '../kubernetes/client/index.ts';
import { decodeKubeconfigUnder } from '../kubernetes/kubeconfig/index.ts';
import {
  type PlacedRef,
  type ProberSettings,
  type LabelledSecretView,
  chooseSecret,
  decideSecretLifecycle,
  decodeLabelledSecret,
  describeOthers,
  hostedShoot,
  isTemplate,
  kubeconfigQuery,
  listCapiClusters,
  measureSkew,
  ownerOf,
} from '../prober/index.ts';
import type { SeedRead } from './checks/check.ts';
import type { SeenResource, SeenResources } from './checks/dependents.ts';
import { type FoundKind, hintAt } from './checks/kinds.ts';
import type { SeedAnswer } from './checks/seed.ts';
import type { SeenShoot } from './checks/shoots.ts';
import { type Reader, attempt, optionsOf, send } from './reader.ts';

/** Of a list of all Clusters of a seed with a thousand shoots, 60 MB in pages. */
const listTimeoutMs = 300_000;

const seedVersion: Call<string> = {
  method: 'GET',
  path: '/version',
  decode: (json) => decodeString(decodeObject(json, 'version').gitVersion, 'version.gitVersion'),
};

/** The first request of all. */
export const readVersion = async (reader: Reader): Promise<SeedRead<SeedAnswer>> => {
  const { clock } = reader;
  const about: Right = { verb: 'get', group: '', resource: 'version' };
  const read = await attempt(about, async () => {
    // The first one opens the connection.
    await send(reader, seedVersion);
    const { value: version, date, sentAt, receivedAt } = await send(reader, seedVersion);
    const roundTripMs = receivedAt - sentAt;
    const wallAtEnd = clock.now() - (clock.monotonic() - receivedAt);
    const skewMs = measureSkew({ date, wallAtEnd, roundTripMs });
    return { version, roundTripMs, ...(skewMs === undefined ? {} : { skewMs }) };
  });
  return read.ok ? read : { ok: false, error: { code: 'seed-unreachable', detail: read.error.detail } };
};

const decodeSeenShoot = (json: unknown, path: string): SeenShoot => {
  const cluster = decodeCluster(json, path);
  const spec = childObject(decodeObject(json, path), path, 'spec');
  return { cluster: hostedShoot(cluster), version: cluster.shoot.ok ? versionOf(spec.shoot) : '' };
};

/** The Shoot of a Cluster whose projection has been decoded. */
const versionOf = (shoot: unknown): string => {
  const spec = childObject(decodeObject(shoot, 'shoot'), 'shoot', 'spec');
  return optionalString(childObject(spec, 'shoot.spec', 'kubernetes').version, 'shoot.spec.kubernetes.version') ?? '';
};

const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';

const decodePlace = (json: unknown, path: string): ObjectMeta => decodeMeta(decodeObject(json, path), path);

/** A Secret of a cluster. */
interface SeenSecret {
  readonly text?: string | undefined;
  readonly deleting: boolean;
  /** Why it is not clear that it is this one. */
  readonly problem?: string | undefined;
}

/** The Secrets that go by their labels, one for each namespace, as the prober chooses it. */
const readLabelledSecrets = (
  reader: Reader,
  {
    key,
    selector,
    namespace,
  }: { readonly key: string; readonly selector: string; readonly namespace?: string | undefined },
): Promise<SeedRead<ReadonlyMap<string, SeenSecret>>> => {
  const place = namespace === undefined ? {} : { namespace };
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return attempt({ verb: 'list', group: '', resource: 'secrets', ...place }, async () => {
    const call = listCall({
      path: `/api/v1${within}/secrets`,
      query: { labelSelector: selector },
      decode: (json, path): LabelledSecretView => decodeLabelledSecret(key, json, path),
    });
    const byNamespace = new Map<string, LabelledSecretView[]>();
    for (const secret of (await send(reader, call, listTimeoutMs)).value) {
      byNamespace.set(secret.namespace, [...(byNamespace.get(secret.namespace) ?? []), secret]);
    }
    return new Map(
      Array.from(byNamespace).flatMap(([name, all]) => {
        const chosen = chooseSecret(all);
        if (chosen === undefined) return [];
        const { secret, others } = chosen;
        return [[name, { ...secret, problem: describeOthers(secret.name, others) }] as const];
      }),
    );
  });
};

/** Clusters that go by the Secret of the configured name, or labels: each namespace which has it. */
const readSecretClusters = async (
  reader: Reader,
  { name, key, selector }: { readonly name: string; readonly key: string; readonly selector?: string | undefined },
): Promise<SeedRead<readonly SeenShoot[]>> => {
  const places = { apiVersion: 'v1', resource: 'secrets', name, decode: decodePlace };
  const [secrets, namespaces] = await Promise.all([
    selector === undefined ? readNamed<SeenSecret>(reader, places) : readLabelledSecrets(reader, { key, selector }),
    attempt({ verb: 'list', group: '', resource: 'namespaces' }, async () => {
      const call = listCall({ path: '/api/v1/namespaces', decode: decodePlace });
      const { value } = await send(reader, call, listTimeoutMs);
      return new Set(value.filter(({ deleting }) => deleting).map((meta) => meta.name));
    }),
  ]);
  if (!secrets.ok) return secrets;
  if (!namespaces.ok) return namespaces;
  const shoots = Array.from(secrets.value, ([namespace, { deleting, problem }]): SeenShoot => {
    const secret = deleting ? 'gone' : 'there';
    const decision = decideSecretLifecycle({ secret, namespaceDeleting: namespaces.value.has(namespace) });
    const unclear = problem === undefined ? {} : { problem };
    return { cluster: { name: namespace, lifecycle: { ok: true, value: decision }, ...unclear }, version: '' };
  });
  return { ok: true, value: shoots };
};

const readCapiClusters = (reader: Reader): Promise<SeedRead<readonly SeenShoot[]>> =>
  attempt({ verb: 'list', group: 'cluster.x-k8s.io', resource: 'clusters' }, async () => {
    const clusters = await listCapiClusters(reader.client, optionsOf(reader, listTimeoutMs));
    return clusters.map((cluster) => ({ cluster, version: '' }));
  });

/** All clusters of the seed, in the way that the configuration says. */
export const readShoots = (reader: Reader, settings: ProberSettings): Promise<SeedRead<readonly SeenShoot[]>> => {
  const { clusterSource, kubeConfigSecretName: name } = settings;
  switch (clusterSource?.kind) {
    case undefined:
      return readGardenShoots(reader);
    case 'secret':
      return readSecretClusters(reader, { name, ...clusterSource });
    case 'cluster-api':
      return readCapiClusters(reader);
  }
};

const readGardenShoots = (reader: Reader): Promise<SeedRead<readonly SeenShoot[]>> =>
  attempt({ verb: 'list', group: 'extensions.gardener.cloud', resource: 'clusters' }, async () => {
    const call = listCall({ path: clusters, decode: decodeSeenShoot });
    return (await send(reader, call, listTimeoutMs)).value;
  });

/** How the seed serves a kind, with what may have been meant where it does not. Everybody may ask (ClusterRole `system:discovery`). */
export const readKind = (
  reader: Reader,
  wanted: Pick<ResourceRef, 'apiVersion' | 'kind'>,
): Promise<SeedRead<FoundKind>> =>
  attempt({ verb: 'get', group: groupOf(wanted), resource: '' }, async () => {
    const { client } = reader;
    const found = await resolveKind(client, wanted, optionsOf(reader));
    if (found.kind === 'served') return found;
    const kinds = await listKinds(client, wanted.apiVersion, optionsOf(reader));
    const group = groupOf(wanted);
    const versions = group === '' ? [] : await listVersions(client, group, optionsOf(reader));
    const hint = hintAt(wanted.kind, { kinds, versions });
    return { ...found, ...(hint === undefined ? {} : { hint }) };
  });

/** Objects of one name, or of one that each cluster fills in: of all namespaces, or of the only one. */
interface NamedObjects<T> {
  readonly apiVersion: string;
  /** Plural. */
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  /** Default: by name. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Name of its cluster; undefined: of none. Default: its namespace. */
  readonly ownerOf?: (meta: ObjectMeta) => string | undefined;
  readonly decode: (json: unknown, path: string) => T;
}

const inNamespace = ({ namespace }: ObjectMeta): string => namespace;

/** Lists them in one request, by cluster. A list by name is allowed to whoever may list that name alone (`resourceNames`). */
const readNamed = <T>(
  reader: Reader,
  { apiVersion, resource, name, namespace, query, ownerOf: clusterOf = inNamespace, decode }: NamedObjects<T>,
): Promise<SeedRead<ReadonlyMap<string, T>>> => {
  const place = namespace === undefined ? {} : { namespace };
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const named = isTemplate(name) ? {} : { name };
  return attempt({ verb: 'list', group: groupOf({ apiVersion }), resource, ...named, ...place }, async () => {
    const call = listCall({
      path: `${groupVersionPath(apiVersion)}${within}/${resource}`,
      query: query ?? (isTemplate(name) ? {} : { fieldSelector: `metadata.name=${name}` }),
      decode: (json, path) => [clusterOf(decodePlace(json, path)), decode(json, path)] as const,
    });
    const { value } = await send(reader, call, listTimeoutMs);
    return new Map(value.flatMap(([cluster, one]) => (cluster === undefined ? [] : [[cluster, one] as const])));
  });
};

/** Kubeconfig texts by cluster; undefined where the Secret has no such key. */
export const readSecrets = async (
  reader: Reader,
  {
    settings,
    name,
    key = 'kubeconfig',
    namespace,
  }: {
    readonly settings: ProberSettings;
    readonly name: string;
    readonly key?: string | undefined;
    readonly namespace?: string;
  },
): Promise<SeedRead<ReadonlyMap<string, string | undefined>>> => {
  const selector = name === settings.kubeConfigSecretName ? settings.clusterSource?.selector : undefined;
  if (selector !== undefined) {
    const chosen = await readLabelledSecrets(reader, { key, selector, namespace });
    return chosen.ok ? { ok: true, value: new Map(Array.from(chosen.value, ([at, { text }]) => [at, text])) } : chosen;
  }
  const decode = (json: unknown, path: string): string | undefined => decodeKubeconfigUnder(key, json, path);
  const ref = { apiVersion: 'v1', kind: 'Secret', name };
  return readNamed(reader, {
    ...{ apiVersion: 'v1', resource: 'secrets', name, namespace, decode },
    query: kubeconfigQuery(name),
    ownerOf: (meta) => ownerOf(settings, ref, meta),
  });
};

const decodeResource = (json: unknown, path: string): SeenResource => {
  const object = decodeObject(json, path);
  return { annotations: decodeMeta(object, path).annotations, containers: decodeTemplateContainers(object, path) };
};

/** A resource of all shoots, by their names; undefined where its kind is not served, which is told elsewhere. */
export const readResources = async (
  reader: Reader,
  {
    settings,
    ref,
    found,
    namespace,
  }: {
    readonly settings: ProberSettings;
    readonly ref: PlacedRef;
    readonly found: SeedRead<FoundKind>;
    readonly namespace?: string;
  },
): Promise<SeedRead<SeenResources> | undefined> => {
  if (!found.ok) return found;
  if (found.value.kind === 'not-served' || !found.value.namespaced) return undefined;
  const { apiVersion, name } = ref;
  const { resource } = found.value;
  return readNamed(reader, {
    ...{ apiVersion, resource, name, decode: decodeResource },
    // A namespace that each cluster fills in may be another one.
    namespace: ref.namespace === undefined ? namespace : undefined,
    ownerOf: (meta) => ownerOf(settings, ref, meta),
  });
};
