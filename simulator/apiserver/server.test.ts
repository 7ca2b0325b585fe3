import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { type VirtualClock, createVirtualClock } from '../time/clock.ts';
import { simKinds } from './kinds.ts';
import { type SimApiServer, createSimApiServer } from './server.ts';

const { ConfigMap, Lease, Node } = simKinds;
const never = new AbortController().signal;
const configMaps = '/api/v1/namespaces/default/configmaps';

interface Setup {
  readonly clock: VirtualClock;
  readonly server: SimApiServer;
}

const setup = (): Setup => {
  const clock = createVirtualClock();
  return { clock, server: createSimApiServer({ clock }) };
};

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const read = async (response: KubeResponse): Promise<Reply> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString()) as Reply['body'] };
};

const get = async (server: SimApiServer, path: string, query: KubeRequest['query'] = {}): Promise<Reply> =>
  read(await server.request({ method: 'GET', path, query, signal: never }));

const put = (server: SimApiServer, name: string, labels: Record<string, string> = {}): void => {
  server.store.put(ConfigMap, { metadata: { namespace: 'default', name, labels } });
};

type Event = readonly [string, string];

/** Reads all events to the end of the watch, each as type and name; for an error, its reason instead of the name. */
const watchAll = async (server: SimApiServer, query: KubeRequest['query']): Promise<readonly Event[]> => {
  const signal = never;
  const response = await server.request({ method: 'GET', path: configMaps, query: { watch: '1', ...query }, signal });
  const events: Event[] = [];
  for await (const chunk of response.body) {
    const { type, object } = JSON.parse(Buffer.from(chunk).toString()) as {
      type: string;
      object: { metadata: { name?: string }; reason?: string };
    };
    events.push([type, object.reason ?? object.metadata.name ?? '']);
  }
  return events;
};

const continueOf = (reply: Reply): string => (reply.body.metadata as { continue?: string }).continue ?? '';

const namesOf = (reply: Reply): readonly string[] =>
  (reply.body.items as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

it('a simulated server that has compacted responds to a later page with 410', async () => {
  const { server } = setup();
  for (const name of ['a', 'b', 'c', 'd']) put(server, name);
  const first = await get(server, configMaps, { limit: '2' });
  put(server, 'bb');
  server.store.compact();
  const second = await get(server, configMaps, { limit: '2', continue: continueOf(first) });
  expect(second).toMatchObject({ status: 410, body: { reason: 'Expired', code: 410 } });
});

it.each([
  [{ dryRun: 'All' }, 422],
  [{ watch: '1', sendInitialEvents: 'true' }, 422],
  [{ resourceVersion: '5', resourceVersionMatch: 'Exact' }, 422],
  [{ fieldSelector: 'status.phase=Running' }, 400],
  [{ fieldSelector: 'metadata.name!=a' }, 400],
  [{ fieldSelector: 'metadata.name=a,metadata.namespace=b' }, 400],
])('a simulated server that gets options it does not simulate refuses %j', async (query, status) => {
  expect((await get(setup().server, configMaps, query)).status).toBe(status);
});

describe('a simulated server as a transport', () => {
  it('ends a watch at the deadline with a Timeout, and on abort with the reason', async () => {
    const { clock, server } = setup();
    const request = { method: 'GET', path: configMaps, query: { watch: '1' }, signal: never } as const;
    const timed = await server.request({ ...request, timeoutMs: 5_000 });
    await expect(clock.run(timed.body[Symbol.asyncIterator]().next())).rejects.toMatchObject({ code: 'Timeout' });
    expect(clock.monotonic()).toBe(5_000);
    const controller = new AbortController();
    const aborted = await server.request({ ...request, signal: controller.signal });
    const next = aborted.body[Symbol.asyncIterator]().next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(clock.pending).toBe(0);
  });

  it('ends a watch if rounding leaves almost no time before its last bookmark', async () => {
    const { clock, server } = setup();
    await clock.advance(435_727.040_393_150_94);
    const from = clock.monotonic();
    await clock.run(watchAll(server, { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: '100' }));
    expect(clock.monotonic() - from).toBeCloseTo(100_000);
  });

  it('reports its own wall clock with the configured skew', async () => {
    const { clock, server } = setup();
    server.setClockSkew(-3_600_000);
    const response = await server.request({ method: 'GET', path: '/version', signal: never });
    expect(Date.parse(response.headers.date ?? '')).toBe(clock.now() - 3_600_000);
    expect(server.store.put(Node, { metadata: { name: 'n' } }).metadata.creationTimestamp).toBe('2025-12-31T23:00:00Z');
  });
});

describe('a list and a watch', () => {
  const action = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    app: fc.constantFrom('x', 'y', undefined),
    gone: fc.boolean(),
  });

  const apply = (
    server: SimApiServer,
    { name, app, gone }: { name: string; app: string | undefined; gone: boolean },
  ): void => {
    if (gone) server.store.remove(ConfigMap, { namespace: 'default', name });
    else put(server, name, app === undefined ? {} : { app });
  };

  it('agree: the events since a list turn it into any later list, with and without a selector', async () => {
    const actions = fc.array(action, { maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(
        actions,
        actions,
        fc.constantFrom('', 'app=x', 'app!=x', '!app'),
        async (before, after, labelSelector) => {
          const { clock, server } = setup();
          for (const step of before) apply(server, step);
          const start = await get(server, configMaps, { labelSelector });
          const { resourceVersion } = start.body.metadata as { resourceVersion: string };
          const live = watchAll(server, { labelSelector, resourceVersion, timeoutSeconds: '10' });
          for (const step of after) apply(server, step);
          const replayed = await clock.run(watchAll(server, { labelSelector, resourceVersion, timeoutSeconds: '10' }));
          expect(await clock.run(live)).toEqual(replayed);
          const state = new Set(namesOf(start));
          for (const [type, name] of replayed) {
            expect([type, state.has(name)]).toEqual([type, type !== 'ADDED']);
            if (type === 'DELETED') state.delete(name);
            else state.add(name);
          }
          expect([...state].sort()).toEqual(namesOf(await get(server, configMaps, { labelSelector })));
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('the store for actors', () => {
  const ref = { namespace: 'kube-node-lease', name: 'n' };
  const spec = { holderIdentity: 'n', leaseDurationSeconds: 40 };

  it('stamps each renewal of a Lease, or keeps the first stamp', async () => {
    const { clock, server } = setup();
    const renew = (renewTime: string): unknown =>
      server.store.put(Lease, { metadata: ref, spec: { ...spec, renewTime } }).metadata.managedFields?.[0]?.time;
    const first = renew('1');
    await clock.advance(10_000);
    server.setStamping(false);
    expect(renew('2')).toBe(first);
    server.setStamping(true);
    expect(renew('3')).not.toBe(first);
  });

  it('removes a deleted object with its last finalizer', () => {
    const { server } = setup();
    const held = { namespace: 'default', name: 'c' };
    server.store.put(ConfigMap, { metadata: { ...held, finalizers: ['x.io/a'] } });
    server.store.delete(ConfigMap, held);
    const { finalizers: _, ...metadata } = server.store.get(ConfigMap, held)?.metadata ?? { ...held, finalizers: [] };
    server.store.put(ConfigMap, { metadata: { ...metadata, ...held } });
    server.store.patch(ConfigMap, held, (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
    expect(server.store.get(ConfigMap, held)).toBeUndefined();
  });
});
