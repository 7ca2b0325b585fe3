import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listMachines } from '../../src/gardener/machine.ts';
import { listNodes } from '../../src/gardener/node.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { createVirtualClock } from '../time/clock.ts';
import { simKinds } from './kinds.ts';
import { type SimApiServer, createSimApiServer } from './server.ts';
import { readList } from '../../test/doubles/protobuf.ts';

const { Lease, Machine, Node } = simKinds;
const protobuf = 'application/vnd.kubernetes.protobuf';
const preferred = `${protobuf},application/json`;

const start = (): SimApiServer => createSimApiServer({ clock: createVirtualClock() });

interface Reply {
  readonly status: number;
  readonly type: string | undefined;
  readonly bytes: Buffer;
}

const get = async (server: SimApiServer, url: string, accept: string): Promise<Reply> => {
  const { signal } = new AbortController();
  const [path = '', query] = url.split('?');
  const { status, headers, body } = await server.request({
    method: 'GET',
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: { accept },
    signal,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { status, type: headers['content-type'], bytes: Buffer.concat(chunks) };
};

/** Decodes the same response as the call does, in both formats. */
const readBoth = async <T>(
  server: SimApiServer,
  call: Call<T>,
): Promise<{ readonly json: T; readonly protobuf: T }> => {
  const [binary, text] = [await get(server, call.path, preferred), await get(server, call.path, 'application/json')];
  expect([binary.type, text.type]).toEqual([protobuf, 'application/json']);
  return { json: call.decode(JSON.parse(text.bytes.toString())), protobuf: readList(call, binary.bytes) };
};

const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$/);
const words = fc.oneof(fc.string({ maxLength: 200, unit: 'binary' }), fc.constant('worker-ä-🌍'));
const strings = fc.dictionary(fc.oneof(words, fc.constant('worker.gardener.cloud/pool')), words, { maxKeys: 4 });
const micros = fc
  .tuple(fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true }), fc.nat(999))
  .map(([date, rest]) => date.toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`));

describe('responses in protobuf', () => {
  it('decode to the same leases as JSON', async () => {
    const lease = fc.record({
      name,
      renewTime: fc.option(micros),
      transitions: fc.option(fc.nat(2 ** 31 - 1)),
      labels: strings,
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(lease, { maxLength: 8, selector: (one) => one.name }), async (leases) => {
        const server = start();
        for (const { name, renewTime, transitions, labels } of leases) {
          const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime, leaseTransitions: transitions };
          server.store.put(Lease, { metadata: { name, namespace: 'kube-node-lease', labels }, spec });
        }
        const read = await readBoth(server, listNodeLeases);
        expect(read.protobuf).toEqual(read.json);
        expect(read.json).toHaveLength(leases.length);
      }),
      { numRuns: 60 },
    );
  });

  it('decode to the same nodes as JSON', async () => {
    const condition = fc.record({
      type: fc.constantFrom('Ready', 'KernelDeadlock', 'InPlaceUpdate'),
      status: fc.constantFrom('True', 'False', 'Unknown'),
      reason: fc.constantFrom('ReadyForUpdate', 'UpdateFailed', 'x'),
      lastHeartbeatTime: fc.constant('2026-11-21T00:00:00Z'),
    });
    const node = fc.record({
      name,
      labels: strings,
      annotations: strings,
      conditions: fc.array(condition, { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(node, { maxLength: 5, selector: (one) => one.name }), async (nodes) => {
        const server = start();
        for (const { name, labels, annotations, conditions } of nodes) {
          server.store.put(Node, { metadata: { name, labels, annotations }, spec: {}, status: { conditions } });
        }
        const read = await readBoth(server, listNodes);
        expect(read.protobuf).toEqual(read.json);
        expect(read.json).toHaveLength(nodes.length);
      }),
      { numRuns: 60 },
    );
  });

  it('show the newest state after a response with an older one', async () => {
    const server = start();
    const renew = (renewTime: string) =>
      server.store.put(Lease, { metadata: { name: 'a', namespace: 'kube-node-lease' }, spec: { renewTime } });
    renew('2026-11-21T00:00:00.000000Z');
    await readBoth(server, listNodeLeases);
    renew('2026-11-21T00:00:10.000001Z');
    const read = await readBoth(server, listNodeLeases);
    expect(read.protobuf).toMatchObject([{ name: 'a', renewTime: Date.parse('2026-11-21T00:00:10Z') * 1_000 + 1 }]);
  });

  it('fall back to JSON if an object holds a field that is only known in JSON', async () => {
    const server = start();
    server.store.put(Node, { metadata: { name: 'plain' } });
    expect((await get(server, listNodes.path, preferred)).type).toBe(protobuf);
    server.store.put(Node, { metadata: { name: 'large' }, status: { capacity: { cpu: '4' } } });
    const reply = await get(server, listNodes.path, preferred);
    expect(reply.type).toBe('application/json');
    expect(listNodes.decode(JSON.parse(reply.bytes.toString())).map((node) => node.name)).toEqual(['large', 'plain']);
  });

  const machines = listMachines('garden').path;
  it.each([
    ['a custom kind', machines, preferred, 'application/json'],
    ['JSON is preferred', listNodes.path, `application/json,${protobuf}`, 'application/json'],
    ['a table in protobuf', listNodes.path, `${protobuf};as=Table,application/json`, 'application/json'],
    [
      'a table in JSON',
      listNodes.path,
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
      'application/json',
    ],
    ['anything', listNodes.path, '*/*', 'application/json'],
    ['nothing but protobuf', listNodes.path, protobuf, protobuf],
    ['one object', `${listNodes.path}/a`, preferred, 'application/json'],
    ['an error', `${listNodes.path}/b`, preferred, 'application/json'],
  ])('%s', async (_, path, accept, type) => {
    const server = start();
    server.store.put(Node, { metadata: { name: 'a' } });
    server.store.put(Machine, { metadata: { name: 'a', namespace: 'garden' } });
    expect((await get(server, path, accept)).type).toBe(type);
  });
});
