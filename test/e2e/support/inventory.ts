import type { TestObject, TestClient } from '../../envtest/client.ts';

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** Comes and goes by itself: pods of shoots, what controllers say, and discovery's own book-keeping. */
const restless: ReadonlySet<string> = new Set(['events', 'pods', 'apiservices', 'componentstatuses', 'replicasets']);

const groupVersions = async (client: TestClient): Promise<readonly string[]> => {
  const { groups } = await client.get<{
    groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  }>('/apis');
  return ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
};

/** All objects of an API server, of whatever kind, by kind, namespace and name. */
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
