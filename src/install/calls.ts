import type { Call } from '../kubernetes/api/call.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { type KubeObject, decodeKubeObject, fieldManager } from './object.ts';

/** Path of the objects of a kind. */
export interface KindPath {
  readonly apiVersion: string;
  /** Plural name. */
  readonly resource: string;
  readonly namespaced: boolean;
}

export interface ServedKindPath extends KindPath {
  readonly kind: string;
}

const placeIn = ({ apiVersion, resource, namespaced }: KindPath, namespace = '') =>
  namespaced && namespace !== '' ? { apiVersion, resource, namespace } : { apiVersion, resource };

const objectPath = (at: KindPath, { metadata: { name, namespace } }: KubeObject): string =>
  resourcePath({ ...placeIn(at, namespace), name });

export const getObject = (at: KindPath, object: KubeObject): Call<KubeObject> => ({
  method: 'GET',
  path: objectPath(at, object),
  decode: decodeKubeObject(),
});

export interface ApplyOptions {
  /** True if the API server only returns the resulting object, and stores nothing. */
  readonly dryRun: boolean;
  /** True if fields are taken over from other managers. */
  readonly force: boolean;
}

/** Server-side apply: creates the object, or sets the fields that `object` has. */
export const applyObject = (at: KindPath, object: KubeObject, { dryRun, force }: ApplyOptions): Call<KubeObject> => ({
  method: 'PATCH',
  path: objectPath(at, object),
  query: { fieldManager, force: String(force), ...(dryRun ? { dryRun: 'All' } : {}) },
  contentType: 'application/apply-patch+yaml',
  body: object,
  repeatable: true,
  decode: decodeKubeObject(),
});

/** Deletes the very object that was read: another one of that name is refused with a Conflict. The objects that it owns are deleted, too. */
export const deleteObject = (at: KindPath, object: KubeObject): Call<undefined> => {
  const { uid } = decodeMeta(object, 'object');
  return {
    method: 'DELETE',
    path: objectPath(at, object),
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      preconditions: { uid },
    },
    repeatable: true,
    ignoresBody: true,
    decode: () => undefined,
  };
};

/** Selection of the objects in a list. */
export interface ListSelection {
  readonly labelSelector: string;
  readonly fieldSelector?: string;
  /** Namespace of the objects. Default: all namespaces. */
  readonly namespace?: string;
}

export const listObjects = (
  at: ServedKindPath,
  { namespace, ...selectors }: ListSelection,
): Call<readonly KubeObject[]> =>
  listCall({
    path: resourcePath(placeIn(at, namespace)),
    query: selectors,
    decode: decodeKubeObject(at),
  });

/** Scales a Deployment as the field manager of the installation, so that a later installation can set the count without a conflict. */
export const scaleDeployment = (deployment: KubeObject, replicas: number): Call<undefined> => ({
  method: 'PATCH',
  path: objectPath({ apiVersion: 'apps/v1', resource: 'deployments', namespaced: true }, deployment),
  query: { fieldManager },
  contentType: 'application/merge-patch+json',
  body: { metadata: { uid: decodeMeta(deployment, 'object').uid }, spec: { replicas } },
  repeatable: true,
  decode: (json) => void decodeObject(json, 'deployment'),
});
