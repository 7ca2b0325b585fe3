import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { getVersion } from '../../src/gardener/shoot-calls.ts';
import type { KubeClient } from '../../src/kubernetes/api/kube.ts';
import { runInScope } from '../../src/kubernetes/transport/index.ts';
import { RunRequests } from '../../src/prober/observe/run-requests.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;

it('leaves nothing of a request to the next collection of the whole heap', async () => {
  const clock = createVirtualClock();
  const client = {
    call: (_, { signal }) => runInScope({ signal, clock }, async () => ({ value: undefined })),
  } as Pick<KubeClient, 'call'> as KubeClient;
  const send = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 1) {
      const requests = new RunRequests(
        {
          ...{ clock, seed: client, kubeconfigs: { get: () => 'a kubeconfig' } },
          connector: { clientFor: () => ({ client, server: 'shoot', close: () => undefined }) },
        },
        { secret: 'shoot/probe', deadline: 30_000, timeoutMs: 30_000, signal: new AbortController().signal },
      );
      expect(await requests.shoot(getVersion)).toMatchObject({ ok: true });
    }
    // What survives two collections of the young generation is old.
    for (const type of ['minor', 'minor'] as const) collect({ type });
  };
  // Compiled code and its feedback are old, too.
  await send(2_000);
  const before = oldBytes();
  await send(1_000);
  expect((oldBytes() - before) / 1_000).toBeLessThan(300);
});
