import { expect, it } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { clusterAt, kubeconfigOf as kubeconfigWith } from '../../../test/doubles/kubeconfig.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { type TestServer, startTestServer } from '../../../test/doubles/test-server.ts';
import { ApiError } from '../api/errors.ts';
import type { TunnelConnector } from '../api/tunnel-connection.ts';
import { createKubeconfigCache } from './kubeconfig-cache.ts';
import { createTunnelConnector } from './port-forward.ts';
import { createShootConnector } from './shoot-connector.ts';

const certificates = await createCertificates({ now: Date.now() });

const { signal } = new AbortController();
const target = { namespace: 'kube-system', pod: 'vpn-shoot-1', port: 22 };
const path = '/api/v1/namespaces/kube-system/pods/vpn-shoot-1/portforward';

const connector = (known = createKubeconfigCache()): TunnelConnector =>
  createTunnelConnector({
    clock: createVirtualClock(),
    userAgent: 'dependency-watchdog/test',
    known,
  });

const kubeconfigOf = ({ host, port }: TestServer, ca = certificates.ca): string =>
  kubeconfigWith(clusterAt(`https://${host}:${port}/shoot`, ca), { token: 'secret' });

interface Seen {
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A server that sends this text as every response, and records the heads of the requests. */
const answering = async (answer: (key: string) => string): Promise<{ server: TestServer; seen: readonly Seen[] }> => {
  const { certificate: cert, key } = certificates.serving;
  const seen: Seen[] = [];
  const server = await startTestServer({
    tls: { cert, key },
    handler: ({ url, headers, socket }) => {
      seen.push({ url, headers });
      socket.write(answer(String(headers['sec-websocket-key'])));
    },
  });
  return { server, seen };
};

const failureOf = async (work: Promise<void>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  return undefined;
};

it.each([
  [
    'a response without an upgrade',
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    'MalformedResponse',
    'the answer is 200 and no upgrade',
  ],
  [
    'an upgrade for another key',
    'HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: x\r\n\r\n',
    'MalformedResponse',
    'none to our WebSocket handshake',
  ],
  ['a response that is not HTTP', 'SSH-2.0-OpenSSH\r\n', 'ConnectionError', 'the answer is not HTTP'],
])('rejects for %s', async (_what, answer, code, message) => {
  const { server } = await answering(() => answer);
  const failure = await failureOf(connector().connect(kubeconfigOf(server), target, signal));
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ code, message: expect.stringContaining(message) as string });
  await server.idle();
});

it('resumes the TLS session of the last connection, even of another connector with the same cache', async () => {
  const { server } = await answering(() => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n');
  const known = createKubeconfigCache();
  const tunnels = connector(known);
  const kubeconfig = kubeconfigOf(server);
  for (let count = 0; count < 3; count += 1) {
    await failureOf(tunnels.connect(kubeconfig, target, signal));
    await server.idle();
  }
  expect(server.stats()).toMatchObject({ handshakes: 3, resumed: 2 });
  const shoot = createShootConnector({ clock: createVirtualClock(), userAgent: 'test', known }).clientFor(kubeconfig);
  const call = { method: 'GET', path: '/version', decode: () => undefined } as const;
  await failureOf(shoot.client.call(call, { signal, timeoutMs: 5_000 }).then(() => undefined));
  shoot.close();
  expect(server.stats()).toMatchObject({ handshakes: 4, resumed: 3 });
});

it("requests a WebSocket to the port on its own connection, with the kubeconfig's credentials", async () => {
  const { server, seen } = await answering(() => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n');
  await failureOf(connector().connect(kubeconfigOf(server), target, signal));
  await failureOf(connector().connect(kubeconfigOf(server), target, signal));
  expect(seen).toMatchObject([
    {
      url: `/shoot${path}?ports=22`,
      headers: {
        authorization: 'Bearer secret',
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-version': '13',
        'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io, v4.channel.k8s.io',
        'user-agent': 'dependency-watchdog/test',
      },
    },
    {},
  ]);
  expect(Buffer.from(String(seen[0]?.headers['sec-websocket-key']), 'base64')).toHaveLength(16);
  expect(server.stats().connections).toBe(2);
});

it.each([
  ['before it connects', 0, ''],
  ['while it waits for a response', 1, ''],
  ['while the body of a refusal does not end', 1, 'HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\n{'],
])('ends on abort %s', async (_when, requests, answer) => {
  const stop = new AbortController();
  const reason = new Error('enough');
  if (requests === 0) stop.abort(reason);
  const { server, seen } = await answering(() => {
    // The head of an answer has usually arrived by then; if not, the result is the same.
    setTimeout(() => stop.abort(reason), answer === '' ? 0 : 50);
    return answer;
  });
  expect(await failureOf(connector().connect(kubeconfigOf(server), target, stop.signal))).toBe(reason);
  expect(seen).toHaveLength(requests);
  await server.idle();
});

it('reports a closed connection as a reset', async () => {
  const { certificate: cert, key } = certificates.serving;
  const server = await startTestServer({ tls: { cert, key }, handler: ({ socket }) => void socket.destroy() });
  expect(await failureOf(connector().connect(kubeconfigOf(server), target, signal))).toMatchObject({
    code: 'ConnectionError',
    message: expect.stringContaining('while waiting for the answer, API server of the kubeconfig') as string,
  });
});
