import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { transportTo } from '../../../test/doubles/transport.ts';
import { startConnectProxy } from '../../../test/doubles/connect-proxy.ts';
import { type TestServer, startTcpServer, startTestServer } from '../../../test/doubles/test-server.ts';
import type { Endpoint } from './endpoint.ts';

const certificates = await createCertificates({ now: Date.now() });

const echo: RequestListener = ({ headers, url }, response) => response.end(`${headers.host ?? ''} ${url ?? ''}`);

const get = async (endpoint: Endpoint): Promise<string> => {
  const transport = transportTo({ ...endpoint, tls: { ca: certificates.ca } });
  const { signal } = new AbortController();
  const { body } = await transport.request({ method: 'GET', path: '/version', signal, timeoutMs: 10_000 });
  return text(body);
};

const faces = ['https:', 'http:'] as const;

const startEcho = (protocol: (typeof faces)[number]): Promise<TestServer> => {
  const { certificate: cert, key } = certificates.serving;
  return startTestServer({ tls: protocol === 'https:' ? { cert, key } : undefined, handler: echo });
};

describe('proxy-url', () => {
  it.each(faces)('tunnels to an %s server, whose name the proxy resolves', async (protocol) => {
    const server = await startEcho(protocol);
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

describe('a SOCKS5 proxy', () => {
  /** Starts a proxy that gives these answers, one for each message, and then tunnels to `far`, or hangs up. */
  const startSocks = async (answers: readonly (readonly number[])[], far?: number) => {
    const asked: string[] = [];
    const { port } = await startTcpServer((socket) => {
      const left = [...answers];
      const hear = (message: Buffer): void => {
        asked.push(message.toString('hex'));
        // Byte by byte, as a slow network might.
        for (const byte of left.shift() ?? []) socket.write(Buffer.of(byte));
        if (left.length > 0) return;
        socket.off('data', hear);
        if (far === undefined) socket.end();
        else socket.pipe(connect(far, '127.0.0.1')).pipe(socket);
      };
      socket.setNoDelay().on('data', hear);
    });
    const credentials = { username: 'ops', password: 's' };
    return { asked, proxy: { protocol: 'socks5:', host: '127.0.0.1', port, credentials } as const };
  };
  const [open, chosePassword, authenticated, granted] = [
    [5, 0],
    [5, 2],
    [1, 0],
    [5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
  ];

  it.each(faces)(
    'carries %s to a server whose name it resolves, with the credentials that it asks for',
    async (protocol) => {
      const server = await startEcho(protocol);
      const at = { protocol, host: 'api.example', port: 443, basePath: '', servername: 'localhost' };
      const { asked, proxy } = await startSocks([chosePassword, authenticated, granted], server.port);
      expect(await get({ ...at, proxy })).toBe('api.example:443 /version');
      expect(asked.slice(1)).toEqual(['01036f70730173', `050100030b${Buffer.from('api.example').toString('hex')}01bb`]);
    },
  );

  it.each([
    ['refuses the target', [open, [5, 2, 0, 1, 0, 0, 0, 0, 0, 0]], 'refused to open a tunnel (EPROXY_REPLY_2 '],
    ['refuses the credentials', [chosePassword, [1, 1]], 'refused the user name and password (EPROXY_AUTH_FAILED '],
    ['accepts no credentials', [[5, 255]], 'requires a user name and password (EPROXY_AUTH_REJECTED '],
    ['is an HTTP server', [[...Buffer.from('HTTP/1.1 400\r\n\r\n')]], 'does not speak SOCKS5 (EPROXY_VERSION '],
    ['hangs up', [open, [5, 0, 0]], '(ECONNRESET while connecting'],
  ])('that %s is reported', async (_what, answers, problem) => {
    const { proxy } = await startSocks(answers);
    const request = get({ protocol: 'https:', host: 'a.example', port: 443, basePath: '', proxy });
    await expect(request).rejects.toThrow(problem);
  });
});
