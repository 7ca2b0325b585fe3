import { describe, expect, it } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { transportTo } from '../../../test/doubles/transport.ts';
import { startConnectProxy } from '../../../test/doubles/connect-proxy.ts';
import { startTestServer } from '../../../test/doubles/test-server.ts';
import type { Endpoint } from './endpoint.ts';

const certificates = await createCertificates({ now: Date.now() });

const get = async (endpoint: Endpoint): Promise<string> => {
  const transport = transportTo({ ...endpoint, tls: { ca: certificates.ca } });
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
    const { port, asked } = await startConnectProxy({ to: server.port });
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
    const { port, asked } = await startConnectProxy({ to: 1, status: 502 });
    const proxy = { protocol: 'http:', host: '127.0.0.1', port } as const;
    await expect(get({ protocol: 'https:', host: 'fd00::1', port: 443, basePath: '', proxy })).rejects.toMatchObject({
      code: 'ConnectionError',
    });
    expect(asked.map(({ url, headers }) => [url, headers['proxy-authorization']])).toEqual([
      ['[fd00::1]:443', undefined],
    ]);
  });

  it('refuses a proxy whose certificate is not trusted', async () => {
    const { certificate: cert, key } = certificates.serving;
    const { port } = await startConnectProxy({ to: 1, tls: { cert, key } });
    const proxy = { protocol: 'https:', host: '127.0.0.1', port } as const;
    await expect(get({ protocol: 'https:', host: 'a.example', port: 443, basePath: '', proxy })).rejects.toMatchObject({
      code: 'ConnectionError',
      message: expect.stringContaining('while connecting') as string,
    });
  });
});
