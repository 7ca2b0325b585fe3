import { type Socket, connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { type ProxyEndpoint, createSecurity, dial } from '../../src/kubernetes/transport/index.ts';
import { startTcpServer, startTestServer } from '../doubles/test-server.ts';
import { clientGo } from './client-go.ts';
import { socksCases } from './socks-cases.ts';

const { signal } = new AbortController();

const startTcp = async (accept: (socket: Socket) => void): Promise<number> => (await startTcpServer(accept)).port;

const granted = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];

interface Proxy {
  readonly port: number;
  /** Messages received, in hexadecimal. */
  readonly sent: string[];
}

/** Starts a proxy that gives these answers, one for each message; after them it tunnels to `far`. */
const startSocks = async (answers: readonly (readonly number[])[], far?: number): Promise<Proxy> => {
  const sent: string[] = [];
  const port = await startTcp((socket) => {
    const left = [...answers];
    const hear = (message: Buffer): void => {
      sent.push(message.toString('hex'));
      const answer = left.shift() ?? [];
      // Byte by byte, as a slow network might.
      for (const byte of answer) socket.write(Buffer.of(byte));
      if (left.length > 0) return;
      socket.off('data', hear);
      if (far === undefined) socket.end();
      else socket.pipe(connect(far, '127.0.0.1')).pipe(socket);
    };
    socket.setNoDelay().on('data', hear);
  });
  return { port, sent };
};

const through = (port: number, { username, password } = { username: '', password: '' }): ProxyEndpoint => ({
  protocol: 'socks5:',
  host: '127.0.0.1',
  port,
  ...(username === '' ? {} : { credentials: { username, password } }),
});

const dialling = (target: string, proxy: ProxyEndpoint): Promise<Socket> => {
  const { hostname, port } = new URL(`http://${target}`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const endpoint = { protocol: 'http:', host, port: Number(port), basePath: '', proxy } as const;
  return dial({ endpoint, security: createSecurity({}), signal });
};

describe('SOCKS5', () => {
  it.each(socksCases)('sends what Go sends: $name', async ({ name, method, target, ...credentials }) => {
    const authenticated = method === 2 ? [[1, 0]] : [];
    const { port, sent } = await startSocks([[5, method], ...(method === 255 ? [] : [...authenticated, granted])]);
    const outcome = dialling(target, through(port, credentials));
    if (method === 255) await expect(outcome).rejects.toMatchObject({ code: 'EPROXYAUTH' });
    else (await outcome).destroy();
    expect(sent).toEqual(clientGo.socks[name]);
  });

  it('carries TLS to the server whose name the proxy resolves', async () => {
    const { ca, serving } = await createCertificates({ now: Date.now() });
    const server = await startTestServer({
      tls: { cert: serving.certificate, key: serving.key },
      handler: (_request, response) => response.end(),
    });
    const { port } = await startSocks([[5, 0], granted], server.port);
    const endpoint = { protocol: 'https:', host: 'api.shoot.example', port: 6443, basePath: '' } as const;
    const trusted = { ...endpoint, servername: 'localhost', proxy: through(port) };
    const socket = await dial({ endpoint: trusted, security: createSecurity({ ca }), signal });
    expect(socket).toMatchObject({ authorized: true });
    socket.destroy();
  });

  it.each([
    [
      'that refuses the target',
      [
        [5, 0],
        [5, 2, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
      'EPROXY2',
    ],
    [
      'that refuses the credentials',
      [
        [5, 2],
        [1, 1],
      ],
      'EPROXYAUTH',
    ],
    ['that is an HTTP server', [[...Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]], 'EPROXYNOTSOCKS'],
    ['that hangs up', [[]], 'ECONNRESET'],
    [
      'that hangs up in the middle',
      [
        [5, 0],
        [5, 0, 0],
      ],
      'ECONNRESET',
    ],
  ])('reports a proxy %s', async (_name, answers, code) => {
    const { port } = await startSocks(answers);
    const proxy = through(port, { username: 'ops', password: 'secret' });
    await expect(dialling('a.example:443', proxy)).rejects.toMatchObject({ code });
  });

  it('reports a name that SOCKS5 cannot carry', async () => {
    const { port } = await startSocks([[5, 0]]);
    await expect(dialling(`${'a'.repeat(256)}.example:443`, through(port))).rejects.toMatchObject({
      code: 'EPROXYLENGTH',
    });
  });

  it('rule 4: an abort ends the conversation with a silent proxy', async () => {
    const accepted: Socket[] = [];
    const port = await startTcp((socket) => void accepted.push(socket.resume()));
    const abort = new AbortController();
    const endpoint = { protocol: 'http:', host: 'a.example', port: 80, basePath: '', proxy: through(port) } as const;
    const outcome = dial({ endpoint, security: createSecurity({}), signal: abort.signal });
    await vi.waitFor(() => expect(accepted).toHaveLength(1));
    abort.abort('enough');
    await expect(outcome).rejects.toBe('enough');
    await vi.waitFor(() => expect(accepted[0]?.closed).toBe(true));
  });
});
