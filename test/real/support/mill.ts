import type { TestClient } from '../../envtest/client.ts';
import { type Polling, pollEvery } from '../../envtest/waiting.ts';

const group = '/apis/test.dependency-watchdog.gardener.cloud/v1';

/** A custom resource with its own paths in the scale subresource. */
export interface Mill {
  readonly metadata: { readonly namespace: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly wheel: { readonly count: number } };
  readonly status?: { readonly turning?: number };
}

export const millRules = [
  {
    apiGroups: ['test.dependency-watchdog.gardener.cloud'],
    resources: ['watermills', 'watermills/scale'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
];

export const millPath = (namespace: string): string => `${group}/namespaces/${namespace}/watermills/mill`;

export const createMill = (seed: TestClient, namespace: string, count: number): Promise<unknown> =>
  seed.create(`${group}/namespaces/${namespace}/watermills`, {
    apiVersion: 'test.dependency-watchdog.gardener.cloud/v1',
    kind: 'Watermill',
    metadata: { name: 'mill' },
    spec: { wheel: { count } },
  });

/** Starts the watermills' controller, which copies the desired count into the status. Without `namespace`, in all namespaces. */
export const startMillController = (seed: TestClient, namespace?: string): Polling => {
  const path = namespace === undefined ? `${group}/watermills` : millPath(namespace).replace(/\/mill$/, '');
  return pollEvery(200, async () => {
    for (const { metadata, spec, status } of await seed.list<Mill>(path)) {
      const { count } = spec.wheel;
      if (status?.turning === count) continue;
      await seed.patch(`${millPath(metadata.namespace)}/status`, { status: { turning: count } });
    }
  });
};
