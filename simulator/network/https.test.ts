import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSimApiServer } from '../apiserver/server.ts';
import { createVirtualClock } from '../time/clock.ts';
import { type SimCertificates, createCertificates } from './certificates.ts';
import { type RequestFault, withFaults } from './faults.ts';
import { type SimHttpsServer, serveHttps } from './https.ts';

let certificates: SimCertificates;
const open: { close(): Promise<void> | void }[] = [];

beforeAll(async () => {
  certificates = await createCertificates({ now: Date.UTC(2026, 0, 1) });
});

afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close();
});

const start = async (fault?: RequestFault): Promise<SimHttpsServer> => {
  const clock = createVirtualClock();
  const face = await serveHttps({
    kube: withFaults(createSimApiServer({ clock }), { clock, rule: () => fault }),
    certificates,
  });
  open.push(face);
  return face;
};

const agent = (): Agent => {
  const made = new Agent({ keepAlive: true });
  open.push({ close: () => made.destroy() });
  return made;
};

/** Sends a request, and reads the response to its end. */
const send = (face: SimHttpsServer, path: string, options: RequestOptions & { body?: string } = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    const { body, ...rest } = options;
    const request = httpsRequest(face.url + path, { ca: certificates.ca, agent: false, ...rest });
    request.on('error', reject);
    request.on('response', (message) => message.on('error', reject).on('end', resolve).resume());
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

describe('the HTTPS server', () => {
  it('keeps connections alive', async () => {
    const face = await start();
    const pooled = agent();
    for (let count = 0; count < 5; count += 1) await send(face, '/version', { agent: pooled });
    expect(face.stats()).toMatchObject({ connections: 1, handshakes: 1, requests: 5, openConnections: 1 });
  });

  it('resumes TLS sessions and counts them', async () => {
    const face = await start();
    const first = await handshake(face);
    const session = await first.ticket;
    expect(first.socket.isSessionReused()).toBe(false);
    const second = await handshake(face, session);
    expect(second.socket.isSessionReused()).toBe(true);
    await expect.poll(() => face.stats()).toMatchObject({ connections: 2, handshakes: 2, resumed: 1 });
  });

  it('resets the connection of a request that fails without a response', async () => {
    const face = await start('reset');
    await expect(send(face, '/version')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
