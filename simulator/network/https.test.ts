import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { simKinds } from '../apiserver/kinds.ts';
import { type SimApiServer, createSimApiServer } from '../apiserver/server.ts';
import { createVirtualClock } from '../time/clock.ts';
import { type SimCertificates, createCertificates } from './certificates.ts';
import { type RequestFault, withFaults } from './faults.ts';
import { type SimHttpsServer, serveHttps } from './https.ts';

const { ConfigMap } = simKinds;
const configMaps = '/api/v1/namespaces/default/configmaps';

let certificates: SimCertificates;
const open: { close(): Promise<void> | void }[] = [];

beforeAll(async () => {
  certificates = await createCertificates({ now: Date.UTC(2026, 0, 1) });
});

afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close();
});

const start = async (
  init: { fault?: () => RequestFault | undefined } = {},
): Promise<{ face: SimHttpsServer; server: SimApiServer }> => {
  const clock = createVirtualClock();
  const server = createSimApiServer({ clock });
  const kube: Kube = withFaults(server, { clock, rule: () => init.fault?.() });
  const face = await serveHttps({ kube, certificates });
  open.push(face);
  return { face, server };
};

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

const agent = (): Agent => {
  const made = new Agent({ keepAlive: true });
  open.push({ close: () => made.destroy() });
  return made;
};

const collect = (message: IncomingMessage): Promise<Reply> =>
  new Promise((resolve, reject) => {
    let text = '';
    message.on('data', (chunk: Buffer) => (text += chunk.toString()));
    message.on('error', reject);
    message.on('end', () => resolve({ status: message.statusCode ?? 0, text, headers: message.headers }));
  });

const send = (face: SimHttpsServer, path: string, options: RequestOptions & { body?: string } = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { body, ...rest } = options;
    const request: ClientRequest = httpsRequest(face.url + path, { ca: certificates.ca, agent: false, ...rest });
    request.on('error', reject);
    request.on('response', (message) => void collect(message).then(resolve, reject));
    request.end(body);
  });

/** Opens a TLS connection; rejects when the handshake fails. */
const handshake = (face: SimHttpsServer, session?: Buffer): Promise<{ socket: TLSSocket; ticket: Promise<Buffer> }> =>
  new Promise((resolve, reject) => {
    const socket = connect({
      port: face.port,
      host: '127.0.0.1',
      ca: certificates.ca,
      ...(session === undefined ? {} : { session }),
    });
    open.push({ close: () => void socket.destroy() });
    const ticket = new Promise<Buffer>((got) => socket.once('session', got));
    socket.once('error', reject);
    socket.once('secureConnect', () => resolve({ socket, ticket }));
  });

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
    socket.on('error', () => undefined);
  });

describe('the HTTPS server', () => {
  it('responds as the wrapped server does, with a content length and a date', async () => {
    const { face, server } = await start();
    server.store.put(ConfigMap, { metadata: { namespace: 'default', name: 'ä' } });
    const reply = await send(face, `${configMaps}?labelSelector=${encodeURIComponent('x notin (y, z)')}`);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'ä' } }] });
    expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(reply.text)));
    expect(reply.headers.date).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
  });

  it('accepts request bodies', async () => {
    const { face, server } = await start();
    const body = JSON.stringify({ metadata: { name: 'a' }, data: { x: 'ü'.repeat(100_000) } });
    const headers = { 'content-type': 'application/json' };
    expect((await send(face, configMaps, { method: 'POST', headers, body })).status).toBe(201);
    expect(server.store.get(ConfigMap, { namespace: 'default', name: 'a' })?.data).toEqual({ x: 'ü'.repeat(100_000) });
  });

  it('keeps connections alive', async () => {
    const { face } = await start();
    const pooled = agent();
    for (let count = 0; count < 5; count += 1) await send(face, '/version', { agent: pooled });
    expect(face.stats()).toMatchObject({ connections: 1, handshakes: 1, requests: 5, openConnections: 1 });
  });

  it('counts the bytes of connections that are open and of those that have ended', async () => {
    const { face } = await start();
    const pooled = agent();
    const body = JSON.stringify({ metadata: { name: 'a' }, data: { x: 'x'.repeat(100_000) } });
    await send(face, configMaps, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await expect.poll(() => face.stats().openConnections).toBe(0);
    const { bytesIn, bytesOut } = face.stats();
    expect(bytesIn).toBeGreaterThan(100_000);
    expect(bytesOut).toBeGreaterThan(100_000);
    await send(face, `${configMaps}/a`, { agent: pooled });
    expect(face.stats().openConnections).toBe(1);
    expect(face.stats().bytesIn - bytesIn).toBeLessThan(10_000);
    expect(face.stats().bytesOut - bytesOut).toBeGreaterThan(100_000);
  });

  it('resumes TLS sessions and counts them', async () => {
    const { face } = await start();
    const first = await handshake(face);
    const session = await first.ticket;
    expect(first.socket.isSessionReused()).toBe(false);
    const second = await handshake(face, session);
    expect(second.socket.isSessionReused()).toBe(true);
    await expect.poll(() => face.stats()).toMatchObject({ connections: 2, handshakes: 2, resumed: 1 });
  });

  it('streams a watch event by event, and ends it when the client disconnects', async () => {
    const { face, server } = await start();
    const lines = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(
        `${face.url}${configMaps}?watch=true`,
        { ca: certificates.ca, agent: false },
        resolve,
      );
      request.on('error', reject).end();
    });
    for (const name of ['a', 'b']) {
      const chunk = new Promise<string>((resolve) => lines.once('data', (data: Buffer) => resolve(data.toString())));
      server.store.put(ConfigMap, { metadata: { namespace: 'default', name } });
      expect(JSON.parse(await chunk)).toMatchObject({ type: 'ADDED', object: { metadata: { name } } });
    }
    const gone = closed(lines.socket);
    lines.destroy();
    await gone;
    await expect.poll(() => face.stats().openConnections).toBe(0);
  });

  it('resets the connection of a request that fails without a response', async () => {
    const { face } = await start({ fault: () => 'reset' });
    await expect(send(face, '/version')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('executes a write whose response is lost', async () => {
    const { face, server } = await start({ fault: () => ({ afterWrite: 'reset' }) });
    const body = JSON.stringify({ metadata: { name: 'a' } });
    await expect(send(face, configMaps, { method: 'POST', body })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(server.store.get(ConfigMap, { namespace: 'default', name: 'a' })).toBeDefined();
  });
});
