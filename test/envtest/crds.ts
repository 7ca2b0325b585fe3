import type { SimKind } from '../../simulator/apiserver/kind.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { careKinds } from '../../simulator/harness/care-kinds.ts';
import type { TestClient } from './client.ts';
import { waitFor } from './waiting.ts';

export type CustomKind = Pick<
  SimKind,
  'group' | 'version' | 'kind' | 'resource' | 'singular' | 'namespaced' | 'status' | 'scale'
>;

/**
 * The kinds that the program uses in a seed and in a garden. They have the real group, version, scope and subresources, but no real
 * schema: every field is kept, and nothing is validated but that conditions are a list by `type`, as in Gardener's types (`patchMergeKey`): so
 * `managedFields` say who owns which. In a real garden, an aggregated API server serves Shoots.
 */
export const gardenerKinds: readonly CustomKind[] = [
  simKinds.Cluster,
  simKinds.Machine,
  simKinds.Etcd,
  careKinds.Shoot,
  careKinds.ManagedResource,
];

/**
 * Creates or updates the definitions. Resolves when the API server lists and serves every kind. The API server delays the creation of an
 * object within two seconds of the definition by two more seconds (customresource_handler.go, `justCreated`).
 */
export async function applyCustomKinds(client: TestClient, kinds: readonly CustomKind[]): Promise<void> {
  await Promise.all(kinds.map((kind) => applyCustomKind(client, kind)));
}

async function applyCustomKind(client: TestClient, custom: CustomKind): Promise<void> {
  const definition = definitionOf(custom);
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
  await client.apply(path, definition);
  const wait = { what: `CustomResourceDefinition ${definition.metadata.name} served`, withinMs: 30_000 };
  await waitFor(wait, async () => {
    const { status } = await client.get<{ status?: { conditions?: readonly Condition[] } }>(path);
    return status?.conditions?.find((it) => it.type === 'Established' && it.status === 'True');
  });
  // The condition Established may precede the handler and the discovery documents.
  await waitFor(wait, () => isServed(client, custom));
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

async function isServed(client: TestClient, { group, version, resource }: CustomKind): Promise<boolean> {
  const discovery = await client.request({ method: 'GET', path: `/apis/${group}/${version}` });
  const { resources = [] } = discovery.body as { resources?: readonly { name: string }[] };
  if (discovery.status !== 200 || !resources.some((it) => it.name === resource)) return false;
  const list = await client.request({ method: 'GET', path: `/apis/${group}/${version}/${resource}?limit=1` });
  return list.status === 200;
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const condition = { ...anything, properties: { type: { type: 'string' } }, required: ['type'] };
const conditions = {
  ...{ type: 'array', items: condition },
  ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
};
const schema = { ...anything, properties: { status: { ...anything, properties: { conditions } } } };

const jsonPath = (fields: readonly string[]): string => `.${fields.join('.')}`;

function definitionOf(custom: CustomKind) {
  const { group, kind, resource, singular, scale } = custom;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope: custom.namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural: resource, singular, listKind: `${kind}List` },
      versions: [
        {
          name: custom.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: {
            ...(custom.status && { status: {} }),
            ...(scale !== undefined && {
              scale: { specReplicasPath: jsonPath(scale.replicas), statusReplicasPath: jsonPath(scale.statusReplicas) },
            }),
          },
        },
      ],
    },
  };
}
