import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { servePortForward } from '../../../test/doubles/kubelet.ts';
import { staticCredentials } from '../client/auth.ts';
import { createSecurity } from '../transport/index.ts';
import { forwardPort } from './forwarded-port.ts';

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
};

/** Forwards the port `podPort` of a pod, through an API server at `port` of this machine. */
const forward = async (port: number, podPort: number) => {
  const problems: unknown[] = [];
  const stop = new AbortController();
  const clock = createVirtualClock();
  const to = { namespace: 'garden', pod: 'prober-a', port: podPort };
  const url = await forwardPort(async () => to, {
    access: {
      source: 'test',
      endpoint: { protocol: 'http:', host: '127.0.0.1', port, basePath: '' },
      security: async () => createSecurity({}),
      credentials: staticCredentials('Bearer t'),
    },
    ...{ clock, userAgent: 'test', signal: stop.signal },
    onProblem: (error) => problems.push(error),
  });
  onTestFinished(() => stop.abort(new Error('the test has ended')));
  return { url, problems, stop, clock };
};

/** Forwards the port of a pod that answers with `handler`, or of none. */
const forwarded = async (handler?: RequestListener) => {
  const podPort = handler === undefined ? 1 : await listening(createServer(handler));
  const kubelet = createServer((_, response) => void response.writeHead(404).end());
  const requests = servePortForward(kubelet);
  return { requests, ...(await forward(await listening(kubelet), podPort)) };
};

/** Connects to a port that is forwarded by an API server which accepts and does not answer. */
const hanging = async () => {
  const silent = createServer();
  const upgrading = once(silent, 'upgrade') as Promise<[IncomingMessage, Socket]>;
  const port = await forward(await listening(silent), 1);
  const client = connect(Number(port.url.port), '127.0.0.1');
  client.on('error', () => undefined);
  const [, tunnel] = await upgrading;
  tunnel.on('error', () => undefined).resume();
  onTestFinished(() => void tunnel.destroy());
  return { ...port, client, tunnelEnds: once(tunnel, 'end'), clientCloses: once(client, 'close') };
};

describe('a forwarded port', () => {
  it('carries requests and answers of any length, both ways', async () => {
    const { url, requests } = await forwarded((request, response) => void request.pipe(response));
    for (const length of [0, 1, 125, 126, 65_535, 65_536, 3_000_000]) {
      const body = Buffer.alloc(length, 'abcdefg');
      const answer = await fetch(url, { method: 'POST', body, headers: { connection: 'close' } });
      expect(Buffer.from(await answer.arrayBuffer()).equals(body), String(length)).toBe(true);
    }
    expect(requests).toHaveLength(7);
    expect(requests[0]?.url).toMatch(/^\/api\/v1\/namespaces\/garden\/pods\/prober-a\/portforward\?ports=\d+$/);
    expect(requests[0]?.headers.authorization).toBe('Bearer t');
  });

  it('ends the connection, and tells why, where nothing listens in the pod', async () => {
    const { url, problems } = await forwarded();
    await expect(fetch(url)).rejects.toThrow();
    expect(String(problems[0])).toMatch(/error forwarding port 1 to pod: connect ECONNREFUSED/);
  });

  it('ends with its signal, also while an answer is under way', async () => {
    const { url, stop } = await forwarded((_, response) => void response.write('begin'));
    const { body } = await fetch(url);
    stop.abort(new Error('enough'));
    await expect(new Response(body).text()).rejects.toThrow();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('gives up a connection that the API server does not answer, and tells so', async () => {
    const { client, clock, problems, tunnelEnds, clientCloses } = await hanging();
    await clock.advance(29_999);
    expect(client.closed).toBe(false);
    await clock.advance(1);
    await Promise.all([tunnelEnds, clientCloses]);
    expect(problems).toMatchObject([{ code: 'Timeout', message: 'no connection to the pod within 30 s' }]);
  });

  it('gives up a connection that its client has ended, or its signal', async () => {
    const left = await hanging();
    left.client.end('GET / HTTP/1.1\r\n\r\n');
    await left.tunnelEnds;
    const stopped = await hanging();
    stopped.stop.abort(new Error('enough'));
    await Promise.all([stopped.tunnelEnds, stopped.clientCloses]);
    expect([...left.problems, ...stopped.problems]).toEqual([]);
  });
});
