import type { TestClient } from '../../test/envtest/client.ts';
import { type Polling, pollEvery } from '../../test/envtest/waiting.ts';

/** Periodically listed `spec.replicas` of the Deployments with one name in all namespaces. */
export interface Replicas extends Polling {
  readonly replicas: (namespace: string) => number | undefined;
}

const everyMs = 50;

interface Item {
  readonly metadata: { readonly namespace: string };
  readonly spec: { readonly replicas: number };
}

export const followReplicas = (seed: TestClient, name: string): Replicas => {
  const path = `/apis/apps/v1/deployments?fieldSelector=metadata.name%3D${name}`;
  let seen: ReadonlyMap<string, number> = new Map();
  const following = pollEvery(everyMs, async () => {
    const items = await seed.list<Item>(path);
    seen = new Map(items.map(({ metadata, spec }) => [metadata.namespace, spec.replicas]));
  });
  return { replicas: (namespace) => seen.get(namespace), ...following };
};
