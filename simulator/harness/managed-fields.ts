import { text } from 'node:stream/consumers';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { bodyOf } from '../apiserver/index.ts';

/** Adds `managedFields` to the objects of an API server, because the simulated one keeps none. */
export const withManagedFields = (kube: Kube) => {
  const fields = new Map<string, readonly object[]>();
  return {
    /** Sets the `managedFields` of the object at `path`. */
    set: (path: string, entries: readonly object[]): void => void fields.set(path, entries),
    request: async (request: KubeRequest): Promise<KubeResponse> => {
      const response = await kube.request(request);
      const managedFields = fields.get(request.path.replace(/\/status$/, ''));
      if (managedFields === undefined || response.status !== 200) return response;
      const object = JSON.parse(await text(response.body)) as { readonly metadata: object };
      const written = { ...object, metadata: { ...object.metadata, managedFields } };
      return { ...response, body: bodyOf(Buffer.from(JSON.stringify(written))) };
    },
  };
};
