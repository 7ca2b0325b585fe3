import type { TestObject, TestClient } from '../../envtest/client.ts';

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** Resources that change by themselves: pods of shoots, Events of controllers, and discovery's own records. */
const restless: ReadonlySet<string> = new Set(['events', 'pods', 'apiservices', 'componentstatuses', 'replicasets']);

const groupVersions = async (client: TestClient): Promise<readonly string[]> => {
  const { groups } = await client.get<{
    groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  }>('/apis');
  return ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
};

/** Lists all objects of an API server, of every kind, by kind, namespace and name. */
export const listEverything = async (client: TestClient): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const path of await groupVersions(client)) {
    const { resources } = await client.get<ResourceList & TestObject>(path);
    for (const { name, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('list') || restless.has(name)) continue;
      const items = await client.list(`${path}/${name}`);
      found.push(...items.map(({ metadata }) => `${path}/${name} ${metadata.namespace ?? ''}/${metadata.name}`));
    }
  }
  return found.toSorted();
};
