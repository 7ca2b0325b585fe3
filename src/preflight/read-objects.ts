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
import type { SeenResource, SeenResources } from './checks/shoots.ts';
import type { FoundKind } from './checks/seed.ts';
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
  readonly namespace?: string;
  /** Returns the cluster of an object. Undefined if it belongs to none. Default: its namespace. */
  readonly ownerOf?: (meta: ObjectMeta) => string | undefined;
  readonly decode: (json: unknown, path: string) => T;
}

const inNamespace = ({ namespace }: ObjectMeta): string => namespace;

/** Lists the objects in one request, by cluster. A list by name needs only the right to list that name (`resourceNames`). */
export const readNamed = <T>(
  reader: Reader,
  { apiVersion, resource, name, namespace, ownerOf: clusterOf = inNamespace, decode }: NamedObjects<T>,
): Promise<ReadonlyMap<string, T>> => {
  const named = isTemplate(name) ? undefined : name;
  return attempt({ verb: 'list', group: groupOf({ apiVersion }), resource, name: named, namespace }, async () => {
    const call = listCall({
      path: resourcePath({ apiVersion, resource, namespace }),
      query: named === undefined ? {} : { fieldSelector: `metadata.name=${named}` },
      decode: (json, path) => [clusterOf(decodePlace(json, path)), decode(json, path)] as const,
    });
    const { value } = await send(reader, call, listTimeoutMs);
    return new Map(value.flatMap(([cluster, one]) => (cluster === undefined ? [] : [[cluster, one] as const])));
  });
};

/** A Secret of a cluster. */
export interface ListedSecret {
  readonly text?: string;
  readonly deleting: boolean;
  /** Reason why another Secret may be the right one. */
  readonly problem?: string;
}

interface Labelled {
  readonly key: string;
  readonly selector: string;
  readonly namespace?: string;
}

/** Lists Secrets by labels, and chooses one per namespace as the prober does. */
export const readLabelledSecrets = (
  reader: Reader,
  { key, selector, namespace }: Labelled,
): Promise<ReadonlyMap<string, ListedSecret>> =>
  attempt({ verb: 'list', group: '', resource: 'secrets', namespace }, async () => {
    const call = listCall({
      path: resourcePath({ apiVersion: 'v1', resource: 'secrets', namespace }),
      query: { labelSelector: selector },
      decode: (json, path): ClusterSecret => decodeClusterSecret(key, json, path),
    });
    const { value } = await send(reader, call, listTimeoutMs);
    return new Map(
      [...Map.groupBy(value, (secret) => secret.namespace)].flatMap(([name, all]) => {
        const chosen = chooseSecret(all);
        if (chosen === undefined) return [];
        const { secret, others } = chosen;
        return [[name, { ...secret, problem: describeOthers(secret.name, others) }] as const];
      }),
    );
  });

/** Reads the kubeconfig texts in the Secrets of this name by cluster. A text is undefined if the Secret does not have the key. */
export const readSecrets = async (
  reader: Reader,
  name: string,
  { settings, namespace }: { readonly settings: ProberSettings; readonly namespace?: string },
): Promise<ReadonlyMap<string, string | undefined>> => {
  const key = kubeconfigKeyOf(settings, name);
  const selector = name === settings.kubeConfigSecretName ? settings.clusterSource?.selector : undefined;
  if (selector === undefined) {
    const decode = (json: unknown, path: string): string | undefined => decodeKubeconfigUnder(key, json, path);
    return readNamed(reader, { apiVersion: 'v1', resource: 'secrets', name, namespace, decode });
  }
  const chosen = await readLabelledSecrets(reader, { key, selector, namespace });
  return new Map(Array.from(chosen, ([at, { text }]) => [at, text]));
};

const decodeResource = (json: unknown, path: string): SeenResource => {
  const object = decodeObject(json, path);
  return { annotations: decodeMeta(object, path).annotations, containers: decodeTemplateContainers(object, path) };
};

/** Reads one resource of all shoots, by cluster. Undefined if its kind is not served or not namespaced, which another check reports. */
export const readResources = async (
  reader: Reader,
  ref: RefTemplate,
  { found, namespace }: { readonly found: FoundKind; readonly namespace?: string },
): Promise<SeenResources | undefined> => {
  if (found.kind === 'not-served' || !found.namespaced) return undefined;
  return readNamed(reader, {
    ...{ apiVersion: ref.apiVersion, resource: found.resource, name: ref.name, decode: decodeResource },
    // A reference with a namespace template may refer to another namespace than the shoot's.
    namespace: ref.namespace === undefined ? namespace : undefined,
    ownerOf: (meta) => ownerOf(ref, meta),
  });
};
