import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Reply } from './api.ts';
import { expectFailure, expectObject, made } from './expectations.ts';
import { machine, statefulSet, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { Deployment, Machine, StatefulSet } = simKinds;

export const statusCases = topic('status', {
  'PATCH to status changes only the status, not the spec': async (api) => {
    await made(api, api.at(Deployment), workload('a'));
    const patch = { spec: { replicas: 9 }, status: { observedGeneration: 1, replicas: 1, readyReplicas: 1 } };
    const after = expectObject(await api.patch(api.at(Deployment, 'a', 'status'), patch));
    expect(after.spec.replicas).toBe(1);
    expect(after.status).toEqual({ observedGeneration: 1, replicas: 1, readyReplicas: 1 });
  },

  'counts of 0 are omitted in a deployment, but some are not in a stateful set': async (api) => {
    const up = { status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 } };
    const down = { status: { replicas: 0, readyReplicas: 0, availableReplicas: 0 } };
    await made(api, api.at(Deployment), workload('a'));
    await made(api, api.at(StatefulSet), statefulSet('a'));
    const statuses: unknown[] = [];
    for (const path of [api.at(Deployment, 'a', 'status'), api.at(StatefulSet, 'a', 'status')]) {
      expect(expectObject(await api.patch(path, up)).status).toEqual(up.status);
      statuses.push(expectObject(await api.patch(path, down)).status);
    }
    expect(statuses).toEqual([{}, { replicas: 0, availableReplicas: 0 }]);
  },

  'metadata through the status of a custom kind stays as it is': async (api) => {
    await made(api, api.at(Machine), machine('a', { metadata: { name: 'a', labels: { node: 'n' } } }));
    const patch = { metadata: { labels: { other: 'x' }, annotations: { y: 'z' } }, status: { x: 1 } };
    const after = expectObject(await api.patch(api.at(Machine, 'a', 'status'), patch));
    expect(after.metadata.labels).toEqual({ node: 'n' });
    expect(after.metadata).not.toHaveProperty('annotations');
    expect(after.status).toEqual({ x: 1 });
  },

  'a stale resourceVersion is a Conflict': async (api) => {
    const { resourceVersion } = (await made(api, api.at(Machine), machine('a'))).metadata;
    const set = (x: number): Promise<Reply> =>
      api.patch(api.at(Machine, 'a', 'status'), { metadata: { resourceVersion }, status: { x } });
    expectObject(await set(1));
    const again = await set(2);
    expectFailure(again, { code: 409, reason: 'Conflict' });
  },
});
