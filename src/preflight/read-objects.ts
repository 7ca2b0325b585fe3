import { decodeTemplateContainers } from '../gardener/kube-controller-manager.ts';
import { type ObjectMeta, decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { groupOf } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { decodeKubeconfigUnder } from '../kubernetes/kubeconfig/index.ts';
import {
  type ClusterSecret,
  type RefTemplate,
  type ProberSettings,
  chooseSecret,
  decodeClusterSecret,
  describeOthers,
  isTemplate,
  kubeconfigKeyOf,
  ownerOf,
} from '../prober/index.ts';
import type { SeedRead } from './checks/check.ts';
import type { SeenResource, SeenResources } from './checks/dependents.ts';
import type { FoundKind } from './checks/kinds.ts';
import { type Reader, attempt, send } from './reader.ts';

/** Timeout of a list, enough for all Clusters of a seed with a thousand shoots: 60 MB in pages. */
export const listTimeoutMs = 300_000;

export const decodePlace = (json: unknown, path: string): ObjectMeta => decodeMeta(decodeObject(json, path), path);

/** Objects with one name, which may be a template with the cluster's name, in one namespace or in all. */
interface NamedObjects<T> {
  readonly apiVersion: string;
  /** Plural name. */
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  /** Returns the cluster of an object. Undefined if it belongs to none. Default: its namespace. */
  readonly ownerOf?: (meta: ObjectMeta) => string | undefined;
  readonly decode: (json: unknown, path: string) => T;
}

const inNamespace = ({ namespace }: ObjectMeta): string => namespace;

/** Lists the objects in one request, by cluster. A list by name needs only the right to list that name (`resourceNames`). */
export const readNamed = <T>(
  reader: Reader,
  { apiVersion, resource, name, namespace, ownerOf: clusterOf = inNamespace, decode }: NamedObjects<T>,
): Promise<SeedRead<ReadonlyMap<string, T>>> => {
  const place = namespace === undefined ? {} : { namespace };
  const named = isTemplate(name) ? {} : { name };
  return attempt({ verb: 'list', group: groupOf({ apiVersion }), resource, ...named, ...place }, async () => {
    const call = listCall({
      path: resourcePath({ apiVersion, resource, namespace }),
      query: isTemplate(name) ? {} : { fieldSelector: `metadata.name=${name}` },
      decode: (json, path) => [clusterOf(decodePlace(json, path)), decode(json, path)] as const,
    });
    const { value } = await send(reader, call, listTimeoutMs);
    return new Map(value.flatMap(([cluster, one]) => (cluster === undefined ? [] : [[cluster, one] as const])));
  });
};

/** A Secret of a cluster. */
export interface ListedSecret {
  readonly text?: string | undefined;
  readonly deleting: boolean;
  /** Reason why another Secret may be the right one. */
  readonly problem?: string | undefined;
}

/** Lists Secrets by labels, and chooses one per namespace as the prober does. */
export const readLabelledSecrets = (
  reader: Reader,
  {
    key,
    selector,
    namespace,
  }: { readonly key: string; readonly selector: string; readonly namespace?: string | undefined },
): Promise<SeedRead<ReadonlyMap<string, ListedSecret>>> => {
  const place = namespace === undefined ? {} : { namespace };
  return attempt({ verb: 'list', group: '', resource: 'secrets', ...place }, async () => {
    const call = listCall({
      path: resourcePath({ apiVersion: 'v1', resource: 'secrets', namespace }),
      query: { labelSelector: selector },
      decode: (json, path): ClusterSecret => decodeClusterSecret(key, json, path),
    });
    const byNamespace = new Map<string, ClusterSecret[]>();
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

/** Reads the kubeconfig texts by cluster. A text is undefined if the Secret does not have the key. */
export const readSecrets = async (
  reader: Reader,
  {
    settings,
    name,
    namespace,
  }: {
    readonly settings: ProberSettings;
    readonly name: string;
    readonly namespace?: string;
  },
): Promise<SeedRead<ReadonlyMap<string, string | undefined>>> => {
  const key = kubeconfigKeyOf(settings, name);
  const selector = name === settings.kubeConfigSecretName ? settings.clusterSource?.selector : undefined;
  if (selector !== undefined) {
    const chosen = await readLabelledSecrets(reader, { key, selector, namespace });
    return chosen.ok ? { ok: true, value: new Map(Array.from(chosen.value, ([at, { text }]) => [at, text])) } : chosen;
  }
  const decode = (json: unknown, path: string): string | undefined => decodeKubeconfigUnder(key, json, path);
  return readNamed(reader, { apiVersion: 'v1', resource: 'secrets', name, namespace, decode });
};

const decodeResource = (json: unknown, path: string): SeenResource => {
  const object = decodeObject(json, path);
  return { annotations: decodeMeta(object, path).annotations, containers: decodeTemplateContainers(object, path) };
};

/** Reads one resource of all shoots, by cluster. Undefined if its kind is not served or not namespaced, which another check reports. */
export const readResources = async (
  reader: Reader,
  {
    ref,
    found,
    namespace,
  }: {
    readonly ref: RefTemplate;
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
    // A reference with a namespace template may refer to another namespace than the shoot's.
    namespace: ref.namespace === undefined ? namespace : undefined,
    ownerOf: (meta) => ownerOf(ref, meta),
  });
};
