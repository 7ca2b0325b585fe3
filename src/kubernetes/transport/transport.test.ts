import { getEventListeners } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { transportTo } from '../../../test/doubles/transport.ts';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { type TestServer, startTcpServer, startTestServer } from '../../../test/doubles/test-server.ts';
import { ApiError } from '../api/errors.ts';
import type { KubeRequest, KubeResponse } from '../api/kube.ts';
import { createSecurity } from './security.ts';
import type { TransportOptions } from './transport.ts';

const certificates = await createCertificates({ now: Date.now() });

afterEach(() => void vi.useRealTimers());

type Face = 'http' | 'https';

const createBench = async (face: Face, options: Partial<TransportOptions> = {}, handler?: RequestListener) => {
  const clock = createVirtualClock();
  const arrived: (readonly [IncomingMessage, ServerResponse])[] = [];
  const waiting: ((pair: readonly [IncomingMessage, ServerResponse]) => void)[] = [];
  const { serving } = certificates;
  const server = await startTestServer({
    ...(face === 'https' ? { tls: { cert: serving.certificate, key: serving.key } } : {}),
    handler:
      handler ??
      ((request, response) => {
        const waiter = waiting.shift();
        if (waiter === undefined) arrived.push([request, response]);
        else waiter([request, response]);
      }),
  });
  const tls = { ca: certificates.ca };
  const transport = transportTo({ protocol: `${face}:`, port: server.port, tls }, { clock, ...options });
  return {
    clock,
    server,
    transport,
    get: (path: string, more: Partial<KubeRequest> = {}) =>
      transport.request({ method: 'GET', path, signal: new AbortController().signal, timeoutMs: 10_000, ...more }),
    /** Returns the next request that the server has received and not answered, in order. */
    received: (): Promise<readonly [IncomingMessage, ServerResponse]> => {
      const pair = arrived.shift();
      return pair === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(pair);
    },
  };
};

const text = ({ body }: KubeResponse): Promise<string> => textOf(body);

const echo: RequestListener = (request, response) => {
  response.end(request.url);
};

const faces: readonly Face[] = ['http', 'https'];

/** Returns the kernel's timer for the connection between two ports of this machine (`proc_net_tcp(5)`); its kind 2 is keep-alive. */
const kernelTimer = (from: number, to: number): { readonly kind: number; readonly inMs: number } => {
  const hex = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const line = lines.find((each) => each.includes(` ${hex(from)} ${hex(to)} `)) ?? '';
  const [kind = '', when = ''] = (line.trim().split(/ +/)[5] ?? '').split(':');
  // In clock ticks of 10 ms (USER_HZ), independent of the kernel's own.
  return { kind: Number.parseInt(kind, 16), inMs: Number.parseInt(when, 16) * 10 };
};

it.runIf(existsSync('/proc/net/tcp')).each(faces)(
  'rule 17: a silent watch over %s is probed by the kernel after 15 s',
  async (face) => {
    const { server, get } = await createBench(face, {}, (_, response) => response.flushHeaders());
    await get('/watch');
    const { port } = server;
    const [socket] = server.sockets;
    const { kind, inMs } = kernelTimer(socket?.remotePort ?? 0, port);
    expect(kind).toBe(2);
    expect(inMs).toBeLessThanOrEqual(15_100);
  },
);

describe.each(faces)('rule 1: one exchange over %s', (face) => {
  it('rule 1: the request and the response arrive unchanged', async () => {
    const endpointPath = '/k8s/clusters/c-1';
    const { server, received } = await createBench(face, {});
    const { port, host } = server;
    const tls = { ca: certificates.ca };
    const prefixed = transportTo({ protocol: `${face}:`, port, basePath: endpointPath, tls });
    const answer = prefixed.request({
      method: 'PATCH',
      path: '/api/v1/namespaces/a%2Fb',
      query: { fieldSelector: 'metadata.name=x,y&z', limit: '5' },
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"ä":1}',
      timeoutMs: 1_000,
      signal: new AbortController().signal,
    });
    const [request, response] = await received();
    expect(request.method).toBe('PATCH');
    const url = new URL(request.url ?? '', 'http://x');
    expect(url.pathname).toBe('/k8s/clusters/c-1/api/v1/namespaces/a%2Fb');
    expect(Object.fromEntries(url.searchParams)).toEqual({ fieldSelector: 'metadata.name=x,y&z', limit: '5' });
    expect(request.headers).toMatchObject({
      host: `${host}:${port}`,
      'user-agent': 'dependency-watchdog/test',
      'content-type': 'application/merge-patch+json',
      'content-length': '8',
    });
    expect(Buffer.concat(await request.toArray()).toString()).toBe('{"ä":1}');
    response.writeHead(
      409,
      [
        ['Content-Type', 'application/json'],
        ['Warning', '299 - "one"'],
        ['Warning', '299 - "two"'],
      ].flat(),
    );
    response.end('{}');
    const { status, headers, body } = await answer;
    expect(status).toBe(409);
    expect(headers['content-type']).toBe('application/json');
    expect(headers.warning).toBe('299 - "one", 299 - "two"');
    expect(await text({ status, headers, body })).toBe('{}');
  });

  it('requests one after the other share a connection, requests at the same time do not', async () => {
    const { get, server, received } = await createBench(face);
    for (let count = 0; count < 3; count += 1) {
      const answer = get('/');
      const [, response] = await received();
      response.end('x');
      await text(await answer);
    }
    expect(server.stats()).toMatchObject({ connections: 1, requests: 3 });
    const both = [get('/a'), get('/b')];
    const pairs = [await received(), await received()];
    for (const [, response] of pairs) response.end();
    for (const answer of both) await text(await answer);
    expect(server.stats()).toMatchObject({ connections: 2, requests: 5 });
  });

  it('a request without a deadline gets a new connection, because an idle one may be half-open, and closes idle ones at the limit', async () => {
    const { get, server, transport } = await createBench(face, { maxConnections: 1 }, echo);
    await text(await get('/a'));
    const { signal } = new AbortController();
    expect(await text(await transport.request({ method: 'GET', path: '/b', signal }))).toBe('/b');
    expect(server.stats().connections).toBe(2);
  });

  it('a connection that fails to open leaves its place to the next request', async () => {
    const endpoint = { protocol: `${face}:`, host: '127.0.0.1', port: 1, basePath: '' } as const;
    const { get } = await createBench(face, { maxConnections: 1, endpoint });
    const answers = await Promise.allSettled(['/a', '/b', '/c'].map((path) => get(path)));
    expect(answers).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'ConnectionError' } }));
  });

  it('idle connections are closed after their timeout', async () => {
    // undici's own timer, which decides only whether the next request opens a connection.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { get, server, clock } = await createBench(face, {}, echo);
    await text(await get('/a'));
    expect(clock.pending).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(59_999);
    expect(server.stats().openConnections).toBe(1);
    vi.advanceTimersByTime(1);
    await server.idle();
    await text(await get('/b'));
    expect(server.stats().connections).toBe(2);
  });

  it('close ends all requests and connections, and leaves nothing', async () => {
    const { get, server, received, transport, clock } = await createBench(face, { maxConnections: 1 });
    const answers = [get('/a'), get('/queued')].map((answer) => answer.catch((error: unknown) => error));
    await received();
    transport.close();
    for (const answer of answers) expect(await answer).toMatchObject({ name: 'ApiError', code: 'ConnectionError' });
    await server.idle();
    expect(clock.pending).toBe(0);
    await expect(get('/c')).rejects.toMatchObject({ code: 'ConnectionError' });
  });
});

/** A request whose server accepts the connection and says nothing, once that has heard from us. */
const dialling = async (
  options: Partial<KubeRequest> = {},
  toward: (server: TestServer) => Partial<TransportOptions> = () => ({}),
) => {
  const { promise: contact, resolve: touch } = Promise.withResolvers<unknown>();
  const server = await startTcpServer((socket) => void socket.once('data', touch));
  const clock = createVirtualClock();
  const transport = transportTo({ port: server.port, tls: { ca: certificates.ca } }, { clock, ...toward(server) });
  const outcome = transport.request({ method: 'GET', path: '/', signal: new AbortController().signal, ...options });
  await contact;
  return { outcome, server, clock, transport };
};

/** A request that its server has received. */
const sent = async (options: Partial<KubeRequest>) => {
  const bench = await createBench('https');
  const answer = bench.get('/', options);
  const [, response] = await bench.received();
  return { ...bench, answer, response };
};

interface Reached {
  readonly outcome: Promise<unknown>;
  readonly clock: VirtualClock;
  readonly server: TestServer;
}

/** The phases of a request. Each starts a request, and resolves once it has reached the phase. */
const phases: Readonly<Record<string, (options: Partial<KubeRequest>) => Promise<Reached>>> = {
  'before anything is sent': async (options) => {
    const bench = await createBench('https', {}, echo);
    return { ...bench, outcome: bench.get('/', options) };
  },
  'in the TLS handshake': dialling,
  'while the proxy opens the tunnel': (options) =>
    dialling(options, ({ host, port }) => {
      const proxy = { protocol: 'http:', host, port } as const;
      return { endpoint: { protocol: 'https:', host: 'api.example', port: 443, basePath: '', proxy } };
    }),
  'in the queue for a connection': async (options) => {
    const bench = await createBench('https', { maxConnections: 1 });
    const first = new AbortController();
    const ahead = bench.get('/ahead', { signal: first.signal, timeoutMs: 1_000_000 }).catch(() => undefined);
    await bench.received();
    const outcome = bench.get('/', options);
    const settled = outcome.catch(() => undefined).finally(() => first.abort());
    onTestFinished(async () => {
      await Promise.all([ahead, settled]);
    });
    return { ...bench, outcome };
  },
  'while waiting for the response': async (options) => {
    const { answer, ...bench } = await sent(options);
    return { ...bench, outcome: answer };
  },
  'while reading the response': async (options) => {
    const { answer, response, ...bench } = await sent(options);
    response.writeHead(200, { 'content-length': '100' }).write('part');
    return { ...bench, outcome: text(await answer) };
  },
  'with a response that nobody reads': async (options) => {
    const { answer, response, ...bench } = await sent(options);
    response.write('part');
    const whole = await answer;
    return { ...bench, outcome: bench.server.idle().then(() => text(whole)) };
  },
};

const unsent = [
  'before anything is sent',
  'in the TLS handshake',
  'while the proxy opens the tunnel',
  'in the queue for a connection',
];

describe.each(Object.entries(phases))('rule 4: a request %s', (name, start) => {
  it('rules 4, 28: ends at once on abort, with the unchanged reason, leaves nothing, and has asked for leadership if its connection is open', async () => {
    const controller = new AbortController();
    const reason = { any: 'value' };
    const beforeSend = vi.fn();
    const { outcome, server, clock } = await start({ signal: controller.signal, timeoutMs: 60_000, beforeSend });
    controller.abort(reason);
    await expect(outcome).rejects.toBe(reason);
    await server.idle();
    await clock.settle();
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(beforeSend).toHaveBeenCalledTimes(unsent.includes(name) ? 0 : 1);
  });

  it('rule 5: ends at its deadline, and its connection is never used again', async () => {
    const controller = new AbortController();
    const { outcome, server, clock } = await start({ signal: controller.signal, timeoutMs: 7_000 });
    const failure = expect(outcome).rejects.toMatchObject({
      name: 'ApiError',
      code: 'Timeout',
      message: expect.stringMatching(/^GET \/: no response within 7000 ms \(.+, .+:\d+\)$/) as string,
    });
    await clock.advance(6_999);
    if (name !== 'before anything is sent') expect(server.stats().openConnections).toBe(1);
    await clock.advance(1);
    await failure;
    await server.idle();
    await clock.settle();
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('rule 5: an idle connection when a request fails', () => {
  /** Opens three connections: two are idle, and the third has a request that gets no response. */
  const hang = async (options: Partial<KubeRequest> = {}) => {
    const bench = await createBench('https');
    const { get, received } = bench;
    const answers = ['/1', '/2', '/3'].map((path) => get(path));
    for (const _ of answers) (await received())[1].end();
    for (const answer of answers) await text(await answer);
    const outcome = get('/hanging', { timeoutMs: 5_000, ...options }).catch((error: unknown) => error);
    const [request] = await received();
    return { ...bench, outcome, request };
  };

  const timeout = new ApiError({ code: 'Timeout', message: 'not done within 3000 ms' });

  it.each<{
    readonly what: string;
    readonly end: (bench: Awaited<ReturnType<typeof hang>>, controller: AbortController) => unknown;
  }>([
    { what: 'its own deadline', end: ({ clock }) => clock.advance(5_000) },
    { what: "the caller's deadline", end: (_, controller) => controller.abort(timeout) },
    { what: 'a reset', end: ({ request }) => request.socket.destroy() },
  ])('rule 5: is not used again after $what, because it may be half-open, too', async ({ end }) => {
    const controller = new AbortController();
    const bench = await hang({ signal: controller.signal });
    await end(bench, controller);
    expect(await bench.outcome).toBeInstanceOf(ApiError);
    const next = bench.get('/next');
    (await bench.received())[1].end();
    await text(await next);
    expect(bench.server.stats().connections).toBe(4);
  });

  it('rule 5: stays open if the caller aborts the request', async () => {
    const controller = new AbortController();
    const { outcome, get, received, server } = await hang({ signal: controller.signal });
    controller.abort(new Error('no longer wanted'));
    await outcome;
    const next = ['/4', '/5'].map((path) => get(path));
    for (const _ of next) (await received())[1].end();
    for (const answer of next) await text(await answer);
    expect(server.stats().connections).toBe(3);
  });
});

describe('rule 4: requests that have ended', () => {
  it('rule 4: a request that was aborted before does not start', async () => {
    const { get, server } = await createBench('http', {}, echo);
    const reason = new Error('before');
    await expect(get('/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.stats().connections).toBe(0);
  });

  it('rule 4: an abandoned body closes its connection, even if it was not read at all', async () => {
    const { get, server, received, clock } = await createBench('https');
    for (const begin of [true, false]) {
      const answer = get('/');
      const [, response] = await received();
      response.write('part');
      const chunks = (await answer).body[Symbol.asyncIterator]();
      if (begin) expect((await chunks.next()).done).toBe(false);
      await chunks.return?.();
      await server.idle();
    }
    expect(server.stats().connections).toBe(2);
    expect(clock.pending).toBe(0);
  });

  it('a watch that cannot connect fails after 30 s, even though it has no deadline', async () => {
    const { outcome, server, clock } = await dialling();
    const failure = expect(outcome).rejects.toMatchObject({ code: 'ConnectionError', cause: { code: 'ETIMEDOUT' } });
    await clock.advance(30_000);
    await failure;
    await server.idle();
  });
});

it('close ends a connection that is being opened', async () => {
  const { outcome, server, clock, transport } = await dialling({ timeoutMs: 5_000 });
  transport.close();
  await expect(outcome).rejects.toMatchObject({ code: 'ConnectionError', cause: { code: 'ECLOSED' } });
  await server.idle();
  expect(clock.pending).toBe(0);
});

it('rule 9: new connections use the new settings, old ones drain', async () => {
  const clientA = await certificates.client('a');
  const clientB = await certificates.client('b');
  const { serving, ca } = certificates;
  const seen: string[] = [];
  const held: ServerResponse[] = [];
  const server = await startTestServer({
    tls: { cert: serving.certificate, key: serving.key, ca, requestCert: true },
    handler: (request, response) => {
      if (request.socket instanceof TLSSocket) seen.push(String(request.socket.getPeerCertificate().subject.CN));
      if (request.url === '/long') {
        held.push(response);
        response.write('started');
      } else response.end();
    },
  });
  const securityFor = (pair: typeof clientA): ReturnType<typeof createSecurity> =>
    createSecurity({ ca, cert: pair.certificate, key: pair.key });
  let current = securityFor(clientA);
  const transport = transportTo({ port: server.port, tls: { ca } }, { security: async () => current });
  const get = (path: string): Promise<KubeResponse> =>
    transport.request({ method: 'GET', path, signal: new AbortController().signal, timeoutMs: 1_000 });
  const long = await get('/long');
  await text(await get('/1'));
  current = securityFor(clientB);
  await text(await get('/2'));
  await text(await get('/3'));
  expect(seen).toEqual(['a', 'a', 'b', 'b']);
  held[0]?.end();
  expect(await text(long)).toBe('started');
  // Only the last of the three connections remains.
  while (server.stats().openConnections > 1) await new Promise((resolve) => setImmediate(resolve));
  expect(server.stats().connections).toBe(3);
});
