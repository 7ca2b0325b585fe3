import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../envtest/index.ts';

const group = '/apis/test.dependency-watchdog.gardener.cloud/v1';

/** A resource that is scaled through paths of its own. */
export interface Mill {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
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

/** The watermill's own controller: what turns follows what is wanted. */
export const startMillController = (seed: TestClient, namespace: string): { stop(): Promise<void> } => {
  const path = millPath(namespace);
  let stopped = false;
  const follow = async (): Promise<void> => {
    while (!stopped) {
      const { spec, status } = await seed.get<Mill>(path);
      const { count } = spec.wheel;
      if (status?.turning !== count) await seed.patch(`${path}/status`, { status: { turning: count } });
      await sleep(200);
    }
  };
  const running = follow();
  return {
    stop: async () => {
      stopped = true;
      await running;
    },
  };
};
