import type { TestClient } from './client.ts';
import { waitFor } from './waiting.ts';

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly status?: boolean;
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
}

/**
 * The kinds that the program uses in a seed and in a garden. They have the real group, version, scope and subresources, but no real
 * schema: every field is kept, nothing is validated. In a real garden, an aggregated API server serves Shoots.
 */
export const gardenerKinds: readonly CustomKind[] = [
  {
    group: 'extensions.gardener.cloud',
    version: 'v1alpha1',
    kind: 'Cluster',
    plural: 'clusters',
    scope: 'Cluster',
  },
  {
    group: 'machine.sapcloud.io',
    version: 'v1alpha1',
    kind: 'Machine',
    plural: 'machines',
    scope: 'Namespaced',
    status: true,
  },
  {
    group: 'druid.gardener.cloud',
    version: 'v1alpha1',
    kind: 'Etcd',
    plural: 'etcds',
    scope: 'Namespaced',
    status: true,
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
  {
    group: 'core.gardener.cloud',
    version: 'v1beta1',
    kind: 'Shoot',
    plural: 'shoots',
    scope: 'Namespaced',
    status: true,
  },
  {
    group: 'resources.gardener.cloud',
    version: 'v1alpha1',
    kind: 'ManagedResource',
    plural: 'managedresources',
    scope: 'Namespaced',
    status: true,
  },
];

/** A kind that the program cannot know, with its own paths in the scale subresource. */
export const watermill: CustomKind = {
  group: 'test.dependency-watchdog.gardener.cloud',
  version: 'v1',
  kind: 'Watermill',
  plural: 'watermills',
  scope: 'Namespaced',
  status: true,
  scale: { specReplicasPath: '.spec.wheel.count', statusReplicasPath: '.status.turning' },
};

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

async function isServed(client: TestClient, { group, version, plural }: CustomKind): Promise<boolean> {
  const discovery = await client.request({ method: 'GET', path: `/apis/${group}/${version}` });
  const { resources = [] } = discovery.body as { resources?: readonly { name: string }[] };
  if (discovery.status !== 200 || !resources.some((it) => it.name === plural)) return false;
  const list = await client.request({ method: 'GET', path: `/apis/${group}/${version}/${plural}?limit=1` });
  return list.status === 200;
}

function definitionOf(custom: CustomKind) {
  const { group, kind, plural, scope } = custom;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: custom.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: {
            ...(custom.status === true && { status: {} }),
            ...(custom.scale !== undefined && { scale: custom.scale }),
          },
        },
      ],
    },
  };
}
