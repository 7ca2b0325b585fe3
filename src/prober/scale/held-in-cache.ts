import { hasStoredReplicas, hasMark } from '../../annotations/scaling-annotations.ts';
import type { CallOptions, KubeClient } from '../../kubernetes/api/kube.ts';
import { listBounds, listCall } from '../../kubernetes/api/list-call.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import { decodeScalable, getScale, isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import { resourcePath } from '../../kubernetes/api/resource-path.ts';
import { resolveKind } from '../../kubernetes/client/index.ts';
import { flat, integer, stringMap, text } from '../../kubernetes/protobuf/index.ts';
import { isConfigured } from './owner.ts';
import { type RefTemplate, isTemplate } from '../config/ref-template.ts';

/** The parts of a resource that show if it is held. */
interface SeenResource {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Absent: 1 for kinds that `isPatchableWorkload`; for others only the Scale has the count. */
  readonly specReplicas?: number;
}

const mebibyte = 1024 * 1024;

/** Options of a list of some thousand resources or namespaces: one page from the API server's watch cache. State from a second ago is good enough. */
export const watchCacheListOptions = {
  query: { resourceVersion: '0' },
  pageSize: 'none',
  bounds: { ...listBounds, jsonBytes: 128 * mebibyte, protobufBytes: 64 * mebibyte, pageItems: 20_000 },
} as const;

/**
 * Projection of Deployments, StatefulSets and ReplicaSets. Field numbers: k8s.io/api `apps/v1/generated.proto`, k8s.io/apimachinery
 * `pkg/apis/meta/v1/generated.proto`.
 */
const workload = {
  apiVersion: 'apps/v1',
  fields: {
    1: flat({ 1: text('name'), 3: text('namespace'), 12: stringMap('annotations') }),
    2: flat({ 1: integer('specReplicas') }),
  },
  empty: (): SeenResource => ({ name: '', namespace: '', annotations: {} }),
  project: (draft: unknown) => draft as SeenResource,
} as const;

/** A template may match all objects of a kind. That list comes in pages, which the watch cache does not serve. */
const listOptionsOf = ({ name }: ResourceRef) =>
  isTemplate(name)
    ? {}
    : { ...watchCacheListOptions, query: { ...watchCacheListOptions.query, fieldSelector: `metadata.name=${name}` } };

const listNamed = (ref: ResourceRef, resource: string) =>
  listCall<SeenResource>({
    ...listOptionsOf(ref),
    path: resourcePath({ apiVersion: ref.apiVersion, resource }),
    kind: `${ref.kind}List`,
    decode: (json, path) => {
      const { meta, specReplicas } = decodeScalable(json, path);
      const { name, namespace, annotations } = meta;
      return { name, namespace, annotations, ...(specReplicas === undefined ? {} : { specReplicas }) };
    },
    ...(isPatchableWorkload(ref) ? { protobuf: workload } : {}),
  });

/**
 * Returns the held resources of one dependent resource in all namespaces, by the rule of `findHeldOf`; none if its kind is not served. Reads from the watch
 * cache unless the name is a template: the result is for display, not for writes. Rejects with an ApiError.
 */
export const findHeldInCache = async (
  ref: RefTemplate,
  { client, options }: { readonly client: KubeClient; readonly options: CallOptions },
): Promise<readonly SeenResource[]> => {
  const found = await resolveKind(client, ref, options);
  if (found.kind === 'not-served') return [];
  const { resource } = found;
  const { value: listed } = await client.call(listNamed(ref, resource), options);
  const all = listed.filter((one) => isConfigured(ref, one));
  const isAtZero = async ({ name, namespace, specReplicas }: SeenResource): Promise<boolean> => {
    if (isPatchableWorkload(ref)) return specReplicas === 0;
    return (
      (await client.call(getScale({ ref: { ...ref, name }, resource, namespace }), options)).value.specReplicas === 0
    );
  };
  const marked = all.filter(hasMark);
  const stored = all.filter((one) => !hasMark(one) && hasStoredReplicas(one));
  const atZero = await Promise.all(stored.map(isAtZero));
  return [...marked, ...stored.filter((_, index) => atZero[index])];
};
