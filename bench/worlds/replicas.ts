import type { Clock } from '../../src/ports/clock.ts';
import type { TestClient } from '../../test/envtest/client.ts';

/** Periodically listed `spec.replicas` of the Deployments with one name in all namespaces. */
export interface Replicas {
  readonly replicas: (namespace: string) => number | undefined;
  stop(): Promise<void>;
}

const everyMs = 50;

interface Item {
  readonly metadata: { readonly namespace: string };
  readonly spec: { readonly replicas: number };
}

export const followReplicas = (seed: TestClient, name: string, clock: Clock): Replicas => {
  const path = `/apis/apps/v1/deployments?fieldSelector=metadata.name%3D${name}`;
  const stop = new AbortController();
  let seen: ReadonlyMap<string, number> = new Map();
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const items = await seed.list<Item>(path);
      seen = new Map(items.map(({ metadata, spec }) => [metadata.namespace, spec.replicas]));
      await clock.sleep(everyMs, stop.signal).catch(() => undefined);
    }
  };
  const following = follow();
  return {
    replicas: (namespace) => seen.get(namespace),
    stop: async () => {
      stop.abort();
      await following;
    },
  };
};
