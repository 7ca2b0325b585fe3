import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SimCertificates, createCertificates } from '../../../simulator/network/certificates.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { startTestServer } from '../../../test/doubles/test-server.ts';
import type { Endpoint } from './endpoint.ts';
import { createSecurity } from './security.ts';
import { createTransport } from './transport.ts';

let certificates: SimCertificates;
beforeAll(async () => {
  certificates = await createCertificates({ now: Date.now() });
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Proxy {
  readonly port: number;
  readonly asked: IncomingMessage[];
}

/** Starts a proxy that tunnels every request to `port`, or refuses with `status`. */
const startProxy = async (port: number, { tls = false, status = 200 } = {}): Promise<Proxy> => {
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const { certificate, key } = certificates.serving;
  const server = tls ? createHttpsServer({ cert: certificate, key }) : createServer();
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request);
    sockets.add(client);
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const far = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(client).pipe(far);
    });
    far.on('error', () => client.destroy());
    client.on('error', () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
};

const get = async (endpoint: Endpoint): Promise<string> => {
  const security = createSecurity({ ca: certificates.ca });
  const transport = createTransport({
    endpoint,
    security: async () => security,
    clock: createVirtualClock(),
    userAgent: 't',
  });
  closers.unshift(() => transport.close());
  const { signal } = new AbortController();
  const { body } = await transport.request({ method: 'GET', path: '/version', signal, timeoutMs: 10_000 });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe('proxy-url', () => {
  it.each(['https:', 'http:'] as const)('tunnels to an %s server, whose name the proxy resolves', async (protocol) => {
    const { certificate, key } = certificates.serving;
    const server = await startTestServer({
      ...(protocol === 'https:' ? { tls: { cert: certificate, key } } : {}),
      handler: (request, response) => response.end(`${request.headers.host ?? ''} ${request.url ?? ''}`),
    });
    closers.push(() => server.close());
    const { port, asked } = await startProxy(server.port);
    const proxy = {
      protocol: 'http:',
      host: '127.0.0.1',
      port,
      credentials: { username: 'x', password: 'y' },
    } as const;
    const endpoint = { protocol, host: 'api.shoot.example', port: 6443, basePath: '', servername: 'localhost', proxy };
    expect(await get(endpoint)).toBe('api.shoot.example:6443 /version');
    expect(asked.map(({ url, headers }) => [url, headers.host, headers['proxy-authorization']])).toEqual([
      ['api.shoot.example:6443', 'api.shoot.example:6443', 'Basic eDp5'],
    ]);
  });

  it('brackets IPv6 addresses', async () => {
    const { port, asked } = await startProxy(1, { status: 502 });
    const proxy = { protocol: 'http:', host: '127.0.0.1', port } as const;
    await expect(get({ protocol: 'https:', host: 'fd00::1', port: 443, basePath: '', proxy })).rejects.toMatchObject({
      code: 'ConnectionError',
    });
    expect(asked.map(({ url, headers }) => [url, headers['proxy-authorization']])).toEqual([
      ['[fd00::1]:443', undefined],
    ]);
  });

  it('reports that the proxy refused', async () => {
    const { port } = await startProxy(1, { status: 407 });
    const proxy = { protocol: 'http:', host: '127.0.0.1', port } as const;
    await expect(get({ protocol: 'https:', host: 'a.example', port: 443, basePath: '', proxy })).rejects.toThrow(
      'GET /version: the proxy refused to open a tunnel (EPROXY407 while connecting, a.example:443)',
    );
  });

  it('refuses a proxy whose certificate is not trusted', async () => {
    const { port } = await startProxy(1, { tls: true });
    const proxy = { protocol: 'https:', host: '127.0.0.1', port } as const;
    await expect(get({ protocol: 'https:', host: 'a.example', port: 443, basePath: '', proxy })).rejects.toMatchObject({
      code: 'ConnectionError',
      message: expect.stringContaining('while connecting') as string,
    });
  });
});
