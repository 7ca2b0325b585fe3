import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { listNodeLeaseExpiries, listTunnelPods } from '../../src/care/observe/shoot.ts';
import { listNodeHealth } from '../../src/gardener/node.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { createKubeClient } from '../../src/kubernetes/client/client.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';

const [kib, mib] = [1024, 1024 * 1024];

describe('rule 11a: the memory of an observation of a shoot', () => {
  const lists = [listNodeHealth, listNodeLeaseExpiries, listTunnelPods] as readonly Call<readonly object[]>[];
  const time = '2026-11-22T12:00:00Z';
  const conditionTypes = ['Ready', 'DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'];

  /** An object with all fields of a node or lease that care keeps, filled with these texts. */
  const nodeItem = (index: number, texts: Readonly<Record<'name' | 'pool' | 'status' | 'text', string>>): object => ({
    metadata: {
      name: texts.name + String(index).padStart(5, '0'),
      labels: { 'worker.gardener.cloud/pool': texts.pool, other: texts.text },
      annotations: { other: texts.text },
    },
    spec: { renewTime: time, leaseDurationSeconds: 40 },
    status: {
      conditions: conditionTypes.map((type) => ({
        ...{ type, status: texts.status, reason: texts.pool, message: texts.text },
        lastTransitionTime: time,
      })),
      nodeInfo: { kubeletVersion: 'v1.33.2' },
    },
  });

  /** Creates a server that lists all items, in pages of the requested size. */
  const serverOf = (items: readonly object[]): Kube => ({
    request: async ({ query = {} }) => {
      const [from, limit] = [Number(query.continue ?? 0), Number(query.limit ?? items.length)];
      const page = items.slice(from, from + limit).map((item) => JSON.stringify(item));
      const next = from + limit < items.length ? String(from + limit) : '';
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from('{"items":[');
        for (const [index, item] of page.entries()) yield Buffer.from(index === 0 ? item : `,${item}`);
        yield Buffer.from(`],"metadata":{"continue":"${next}"}}`);
      };
      return { status: 200, headers: {}, body: body() };
    },
  });

  const callOn = async <T>(kube: Kube, call: Call<T>): Promise<T> => {
    const client = createKubeClient({ kube, clock: createVirtualClock(), objectBytes: 256 * kib });
    return (await client.call(call, { signal: new AbortController().signal })).value;
  };

  /** Heap size of live objects, in bytes, after a garbage collection. */
  const heapBytes = (): number => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  };

  it('rule 11a: is, for 20 hostile shoots at the same time, less than half of the memory limit in the manifests', () => {
    const kept = lists.reduce((sum, { list }) => sum + (list?.bounds.keptBytes ?? Number.POSITIVE_INFINITY), 0);
    const concurrentSyncs = 20;
    expect(concurrentSyncs * kept).toBeLessThan((512 * mib) / 2);
  });

  it.each(lists)('rule 11a: does not exceed the bound, whatever the shoot returns', async (call) => {
    const bytes = call.list?.bounds.keptBytes ?? 0;
    // Each UTF-16 code unit of this text takes two bytes.
    const name = '\u20ac'.repeat(1_000);
    const fits = Math.floor(bytes / 2_000);
    const items = Array.from({ length: fits }, (_, index) =>
      nodeItem(index, { name, pool: 'a', status: 'True', text: 'b' }),
    );
    await expect(callOn(serverOf(items), call)).rejects.toMatchObject({
      code: 'MalformedResponse',
      message: expect.stringContaining(`takes more than ${String(bytes)} bytes`) as string,
    });
    const few = items.slice(0, Math.floor(fits / 3));
    const before = heapBytes();
    const kept = await callOn(serverOf(few), call);
    expect(heapBytes() - before).toBeLessThan(bytes);
    expect(kept).toHaveLength(few.length);
  });

  it('rule 11a: suffices for 5,000 unhealthy nodes with long names and long messages', async () => {
    const texts = { name: 'n'.repeat(120), pool: 'p'.repeat(63), status: 'Unknown', text: 'x'.repeat(600) };
    const items = Array.from({ length: 5_000 }, (_, index) => nodeItem(index, texts));
    expect(await callOn(serverOf(items), listNodeHealth)).toHaveLength(5_000);
    const leases = items.map((_, index) => ({
      metadata: { name: texts.name + String(index).padStart(5, '0') },
      spec: { renewTime: time, leaseDurationSeconds: 40 },
    }));
    expect(await callOn(serverOf(leases), listNodeLeaseExpiries)).toHaveLength(5_000);
  });

  it('rule 11a: does not include the whole of a long text', async () => {
    const texts = { name: 'n', pool: 'p', status: 'False', text: 'x'.repeat(30 * kib) };
    const server = serverOf(Array.from({ length: 100 }, (_, index) => nodeItem(index, texts)));
    const before = heapBytes();
    const nodes = await callOn(server, listNodeHealth);
    const bytes = heapBytes() - before;
    expect(nodes).toHaveLength(100);
    expect(bytes).toBeLessThan(mib);
  });
});
