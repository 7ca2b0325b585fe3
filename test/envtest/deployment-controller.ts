import type { TestClient } from './client.ts';
import type { Workload } from './shoot.ts';
import { type Polling, pollEvery } from './waiting.ts';

/**
 * Updates the status of Deployments from their spec, as the deployment controller would, independently of the program under test.
 * Without `namespace`, in all namespaces.
 */
export const startDeploymentController = (seed: TestClient, namespace?: string): Polling => {
  const pathIn = (name: string): string => `/apis/apps/v1/namespaces/${name}/deployments`;
  const path = namespace === undefined ? '/apis/apps/v1/deployments' : pathIn(namespace);
  return pollEvery(200, async () => {
    for (const { metadata, spec, status } of await seed.list<Workload>(path)) {
      const isDone =
        status?.observedGeneration === metadata.generation && (status.readyReplicas ?? 0) === spec.replicas;
      if (isDone) continue;
      const { replicas } = spec;
      const statusPath = `${pathIn(metadata.namespace)}/${metadata.name}/status`;
      const { status: code } = await seed.request({
        method: 'PATCH',
        path: statusPath,
        contentType: 'application/merge-patch+json',
        body: {
          status: {
            observedGeneration: metadata.generation,
            replicas,
            readyReplicas: replicas === 0 ? null : replicas,
            availableReplicas: replicas === 0 ? null : replicas,
            updatedReplicas: replicas === 0 ? null : replicas,
          },
        },
      });
      // It may have been deleted since the list.
      if (code >= 300 && code !== 404) throw new Error(`PATCH ${statusPath}: ${String(code)}`);
    }
  });
};
