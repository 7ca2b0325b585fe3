import { describe, expect, it } from 'vitest';
import { listNodes } from '../../src/gardener/node.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { createVirtualClock } from '../time/clock.ts';
import { simKinds } from './kinds.ts';
import { type SimApiServer, createSimApiServer } from './server.ts';
import { readList } from '../../test/doubles/protobuf.ts';

const { Lease, Node } = simKinds;
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

describe('responses in protobuf', () => {
  it('show the newest state after a response with an older one', async () => {
    const server = start();
    const renew = (renewTime: string) =>
      server.store.put(Lease, { metadata: { name: 'a', namespace: 'kube-node-lease' }, spec: { renewTime } });
    renew('2026-11-21T00:00:00.000000Z');
    await get(server, listNodeLeases.path, preferred);
    renew('2026-11-21T00:00:10.000001Z');
    const { bytes } = await get(server, listNodeLeases.path, preferred);
    expect(readList(listNodeLeases, bytes)).toMatchObject([
      { name: 'a', renewTime: Date.parse('2026-11-21T00:00:10Z') * 1_000 + 1 },
    ]);
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
});
