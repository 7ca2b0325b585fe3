import type { RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import { describe, expect, it } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { transportTo } from '../../../test/doubles/transport.ts';
import { type TestServer, startTcpServer, startTestServer } from '../../../test/doubles/test-server.ts';
import type { ApiError } from '../api/errors.ts';
import { dial } from './dial.ts';
import type { Endpoint } from './endpoint.ts';
import { type Security, type TlsMaterial, createSecurity } from './security.ts';

const certificates = await createCertificates({ now: Date.now() });
const others = await createCertificates({ now: Date.now() });

const ok: RequestListener = (_request, response) => {
  response.end('{}');
};

const startHttps = (options: ServerOptions = {}): Promise<TestServer> => {
  const { certificate, key } = certificates.serving;
  return startTestServer({ tls: { cert: certificate, key, ...options }, handler: ok });
};

interface Probe {
  readonly endpoint: Partial<Endpoint> & { readonly port: number };
  readonly material?: TlsMaterial;
}

const get = async ({ endpoint, material }: Probe): Promise<number> => {
  const transport = transportTo({ tls: material ?? { ca: certificates.ca }, ...endpoint });
  const { signal } = new AbortController();
  const response = await transport.request({ method: 'GET', path: '/version', signal, timeoutMs: 10_000 });
  for await (const _chunk of response.body);
  return response.status;
};

const failure = async (probe: Probe): Promise<ApiError> => {
  const error = await get(probe).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ApiError', code: 'ConnectionError', handling: 'retry' });
  return error as ApiError;
};

describe('TLS', () => {
  it('checks the certificate for tls-server-name, a name or an address, and sends only names', async () => {
    const names: string[] = [];
    const { certificate, key } = certificates.serving;
    const { port } = await startHttps({
      cert: certificate,
      key,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });
    expect(await get({ endpoint: { port, servername: 'localhost' } })).toBe(200);
    expect(await get({ endpoint: { port, host: 'localhost', servername: '127.0.0.1' } })).toBe(200);
    const error = await failure({ endpoint: { port, servername: 'elsewhere.example' } });
    expect(error.message).toMatch(
      /is for another name; check server and tls-server-name \(ERR_TLS_CERT_ALTNAME_INVALID/,
    );
    expect(names).toEqual(['localhost', 'elsewhere.example']);
  });

  it('uses TLS 1.2 or newer', async () => {
    const { port } = await startHttps({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' });
    expect((await failure({ endpoint: { port } })).message).toMatch(/the TLS handshake failed/);
  });

  it('reports a server without TLS, without HTTP, or no server at all', async () => {
    const plain = await startTestServer({ handler: ok });
    const noHttp = await startTcpServer((socket) => void socket.write('SSH-2.0-x\r\n'));
    const hangsUp = await startTcpServer((socket) => void socket.destroy());
    expect((await failure({ endpoint: { port: plain.port } })).message).toMatch(/the TLS handshake failed/);
    const http = { protocol: 'http:' } as const;
    expect((await failure({ endpoint: { ...http, port: noHttp.port } })).message).toMatch(/the answer is not HTTP/);
    expect((await failure({ endpoint: { ...http, port: hangsUp.port } })).message).toMatch(/reset|closed/);
    expect((await failure({ endpoint: { port: hangsUp.port } })).message).toMatch(/ECONNRESET while connecting/);
    const { port } = plain;
    await plain.close();
    expect((await failure({ endpoint: { port } })).message).toBe(
      `GET /version: the connection was refused; nothing listens there (ECONNREFUSED while connecting, 127.0.0.1:${port})`,
    );
  });
});

it('rule 4: an abort while a connection is being opened closes it', async () => {
  const server = await startTcpServer(() => undefined);
  const endpoint: Endpoint = { protocol: 'http:', host: server.host, port: server.port, basePath: '' };
  const { signal } = new AbortController();
  const [abort, security] = [new AbortController(), createSecurity({})];
  const clock = createVirtualClock();
  const aborted = dial({ endpoint, security, signal: abort.signal, clock });
  abort.abort('enough');
  await expect(aborted).rejects.toBe('enough');
  // The server accepts the next one after it.
  (await dial({ endpoint, security, signal, clock })).destroy();
  await server.idle();
});

/** Performs one run: a new transport with shared settings. */
const runOver = async (security: Security, server: TestServer): Promise<void> => {
  const transport = transportTo({ protocol: 'https:', port: server.port }, { security: async () => security });
  try {
    const { signal } = new AbortController();
    const { body } = await transport.request({ method: 'GET', path: '/', signal, timeoutMs: 10_000 });
    for await (const _chunk of body);
  } finally {
    transport.close();
  }
};

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  '%s: a failed handshake drops the session, which may be the cause',
  async (version) => {
    const server = await startHttps({ minVersion: version, maxVersion: version });
    const { certificate, key } = others.serving;
    const wrong = await startHttps({ cert: certificate, key });
    const shared = createSecurity({ ca: certificates.ca });
    await runOver(shared, server);
    await expect(runOver(shared, wrong)).rejects.toMatchObject({ code: 'ConnectionError' });
    await runOver(shared, server);
    expect(server.stats()).toMatchObject({ handshakes: 2, resumed: 0 });
  },
);
