import type { Kube, KubeResponse } from '../../src/kubernetes/api/kube.ts';

/** An API server that says who has written its objects, which the simulated one does not. */
export interface ManagedFieldsKube extends Kube {
  /** From now on `entries` are the `managedFields` of the object at `path`. */
  set(path: string, entries: readonly object[]): void;
}

const readWhole = async ({ body }: KubeResponse): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

async function* bodyOf(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}

export const withManagedFields = (kube: Kube): ManagedFieldsKube => {
  const fields = new Map<string, readonly object[]>();
  return {
    set: (path, entries) => void fields.set(path, entries),
    request: async (request) => {
      const response = await kube.request(request);
      const managedFields = fields.get(request.path.replace(/\/status$/, ''));
      if (managedFields === undefined || response.status !== 200) return response;
      const object = JSON.parse(await readWhole(response)) as { readonly metadata: object };
      const told = { ...object, metadata: { ...object.metadata, managedFields } };
      return { ...response, body: bodyOf(JSON.stringify(told)) };
    },
  };
};
