import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createVirtualClock } from '../../simulator/time/index.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import type { Clock } from '../ports/clock.ts';
import { systemClock } from './clock.ts';
import { type ReadyCheck, healthRoutes, metricsRoutes, statusRoutes } from './endpoints.ts';
import { type HttpRoutes, createHttpServer } from './http-server.ts';
import type { BindAddress } from './settings.ts';

const anyPort: BindAddress = { host: '127.0.0.1', port: 0 };

const start = async (routes: HttpRoutes, address = anyPort, clock: Clock = systemClock()) => {
  const stop = new AbortController();
  const logger = createRecordingLogger();
  const bound = Promise.withResolvers<BindAddress>();
  const ready = Promise.withResolvers<undefined>();
  const server = createHttpServer({
    name: 'test server',
    flag: '--test-bind-addr',
    address,
    routes,
    clock,
    logger,
    onListening: bound.resolve,
  });
  const ended = server.run(stop.signal, () => ready.resolve(undefined));
  onTestFinished(async () => {
    stop.abort();
    await ended.catch(() => undefined);
  });
  await Promise.race([ready.promise, ended]);
  return { stop, ended, logger, address: await bound.promise };
};

interface Ask {
  readonly method?: string;
  readonly agent?: Agent;
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const ask = (address: BindAddress, path: string, { method = 'GET', agent }: Ask = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const exchange = request({ ...address, path, method, agent: agent ?? false }, (response) => {
      const { statusCode: status, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    exchange.on('error', reject).end();
  });

const closed = (socket: Socket): Promise<void> => new Promise((resolve) => void socket.once('close', () => resolve()));

describe('health', () => {
  let checks: readonly ReadyCheck[] = [];
  const routes = healthRoutes(() => checks);

  it('returns 200 at /healthz even if checks fail', async () => {
    checks = [{ name: 'caches', ok: false }];
    const { address } = await start(routes);
    expect(await ask(address, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await ask(address, '/healthz?verbose')).toMatchObject({ status: 200 });
  });

  it.each([
    [[], 200, 'ready\n'],
    [[{ name: 'a', ok: true }], 200, '[+] a: ok\nready\n'],
    [[{ name: 'a', ok: true, detail: 'kind is not served' }], 200, '[!] a: kind is not served\nready\n'],
    [
      [
        { name: 'a', ok: true },
        { name: 'b', ok: false, detail: 'still listing' },
        { name: 'c', ok: false },
      ],
      503,
      '[+] a: ok\n[-] b: not ready (still listing)\n[-] c: not ready\nnot ready\n',
    ],
  ])('reports the checks %j at /readyz', async (given, status, body) => {
    checks = given;
    const { address } = await start(routes);
    expect(await ask(address, '/readyz')).toMatchObject({ status, body });
  });
});

describe('metrics', () => {
  it('are served with their content type', async () => {
    const source = {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      async *metricsTexts() {
        yield 'dwd_x 1\n';
      },
    };
    const { address } = await start(metricsRoutes(source, systemClock()));
    const { status, headers, body } = await ask(address, '/metrics');
    expect({ status, body }).toEqual({ status: 200, body: 'dwd_x 1\n' });
    expect(headers).toMatchObject({ 'content-type': source.contentType, 'content-length': '8' });
  });

  it('give way to other work after each metric', async () => {
    const order: string[] = [];
    const metricsTexts = async function* () {
      for (const name of ['a', 'b', 'c']) {
        order.push(name);
        setImmediate(() => order.push('other work'));
        yield `${name} 1\n`;
      }
    };
    const { address } = await start(metricsRoutes({ contentType: 'text/plain', metricsTexts }, systemClock()));
    expect(await ask(address, '/metrics')).toMatchObject({ body: 'a 1\nb 1\nc 1\n' });
    expect(order).toEqual(['a', 'other work', 'b', 'other work', 'c', 'other work']);
  });
});

it('the status is JSON, and can depend on the query', async () => {
  const { address } = await start(statusRoutes((shoot = 'all') => ({ shoot }), systemClock()));
  const { status, headers, body } = await ask(address, '/status?shoot=a%26b');
  expect({ status, body }).toEqual({ status: 200, body: '{"shoot":"a&b"}\n' });
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  expect(await ask(address, '/status')).toMatchObject({ body: '{"shoot":"all"}\n' });
  expect(await ask(address, '/status?shoot=%ff#x')).toMatchObject({ body: '{"shoot":"\ufffd"}\n' });
});

describe('createHttpServer', () => {
  const routes: HttpRoutes = new Map([['/x', () => ({ status: 200, contentType: 'text/plain', body: 'äx' })]]);

  it.each([
    ['GET', '/', 404],
    ['GET', '//x', 404],
    ['GET', '/x?a=1', 200],
    ['POST', '/x', 405],
  ])('responds to %s %s with %i', async (method, path, status) => {
    const { address } = await start(routes);
    const reply = await ask(address, path, { method });
    expect(reply.status).toBe(status);
    expect(reply.headers.allow).toBe(status === 405 ? 'GET, HEAD' : undefined);
    if (status === 404) expect(reply.body).toBe('not found; there is /x\n');
  });

  it('responds to HEAD as to GET, without the body', async () => {
    const { address } = await start(routes);
    const reply = await ask(address, '/x', { method: 'HEAD' });
    expect(reply).toMatchObject({ status: 200, body: '', headers: { 'content-length': '3' } });
  });

  it('answers one request after another on a connection, and ends it without a reset five seconds after the last one', async () => {
    const clock = createVirtualClock();
    const { address } = await start(routes, anyPort, clock);
    const socket = connect(address.port, address.host);
    const ended = new Promise<void>((resolve, reject) => void socket.once('end', resolve).once('error', reject));
    const answers: string[] = [];
    for (const _ of ['first', 'second', 'third']) {
      socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      answers.push(answer.toString());
      await clock.advance(4_000);
    }
    expect(answers).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^HTTP\/1.1 200 [^]*äx$/) as string));
    await clock.advance(1_000);
    await ended;
  });

  it('returns 500 if a route throws, logs the error and keeps serving', async () => {
    let broken = true;
    const { address, logger } = await start(
      new Map([
        [
          '/x',
          async () => {
            if (broken) throw new Error('oops');
            return { status: 200, contentType: 'text/plain', body: '' };
          },
        ],
      ]),
    );
    expect(await ask(address, '/x')).toMatchObject({ status: 500, body: 'internal error; see the log\n' });
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { path: '/x', error: new Error('oops') } });
    broken = false;
    expect(await ask(address, '/x')).toMatchObject({ status: 200 });
  });

  it('listens on all addresses, and on IPv6 where there is one', async () => {
    const { address } = await start(routes, { host: '', port: 0 });
    expect(await ask({ host: '127.0.0.1', port: address.port }, '/x')).toMatchObject({ status: 200 });
    const six = await start(routes, { host: '::1', port: 0 }).catch(() => undefined);
    if (six !== undefined) expect(await ask(six.address, '/x')).toMatchObject({ status: 200 });
  });

  it('names the flag and the address when it cannot listen', async () => {
    const { address } = await start(routes);
    await expect(start(routes, address)).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `cannot listen on 127.0.0.1:${address.port} (--test-bind-addr): another program listens there already; choose another address, or 0 for none`,
    });
    await expect(start(routes, { host: '192.0.2.1', port: 0 })).rejects.toThrow(
      'cannot listen on 192.0.2.1:0 (--test-bind-addr): this machine has no such address',
    );
  });

  /** Starts a server whose response waits for `answer`. */
  const startSlow = async () => {
    const [asked, answer] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const handle = async () => {
      asked.resolve(undefined);
      await answer.promise;
      return { status: 200, contentType: 'text/plain', body: 'done' };
    };
    return { ...(await start(new Map([['/slow', handle]]))), asked, answer };
  };

  it('finishes a request in progress when it is stopped, and closes idle and half-sent connections at once', async () => {
    const { address, stop, ended, asked, answer } = await startSlow();
    const idle = connect(address.port, address.host);
    const half = connect(address.port, address.host);
    // Whether the connection ends or is reset depends on what the server has read of it.
    for (const socket of [idle, half]) socket.on('error', () => undefined);
    half.write('GET /slow HTTP/1.1\r\nHost:');
    const quiet = Promise.all([closed(idle.resume()), closed(half.resume())]);
    // This client would keep its connection for the next request.
    const agent = new Agent({ keepAlive: true });
    const reply = ask(address, '/slow', { agent });
    await asked.promise;
    stop.abort();
    await quiet;
    answer.resolve(undefined);
    expect(await reply).toMatchObject({ status: 200, body: 'done' });
    await ended;
    await expect(ask(address, '/slow')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('survives a client that disconnects before the response', async () => {
    const { address, stop, ended, logger, asked, answer } = await startSlow();
    const client = connect(address.port, address.host);
    client.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await asked.promise;
    client.destroy();
    await closed(client);
    answer.resolve(undefined);
    stop.abort();
    await ended;
    expect(logger.at('error')).toEqual([]);
  });
});

describe('a hostile client', () => {
  const get = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n';
  /** Returns a server, the number of the requests that it handled, and a way to connect to it. */
  const begin = async (respond: () => Promise<string | Buffer> = async () => 'x') => {
    const clock = createVirtualClock();
    let handled = 0;
    const handle = async () => {
      handled += 1;
      return { status: 200, contentType: 'text/plain', body: await respond() };
    };
    const routes: HttpRoutes = new Map([
      ['/x', handle],
      ['/healthz', async () => ({ status: 200, contentType: 'text/plain', body: 'ok' })],
    ]);
    const { address } = await start(routes, anyPort, clock);
    const open = async (text = ''): Promise<Socket> => {
      const socket = connect(address.port, address.host);
      await new Promise((resolve) => void socket.once('connect', resolve));
      socket.on('error', () => undefined).write(text);
      return socket;
    };
    const isWell = async (): Promise<void> => {
      expect(await ask(address, '/healthz')).toMatchObject({ status: 200, body: 'ok' });
    };
    return { clock, address, open, isWell, handled: () => handled };
  };

  it.each([
    ['pipelines requests', get.repeat(2_000)],
    ['sends a body', `${get}x`],
    ['sends headers without end', `GET /x HTTP/1.1\r\n${'A: b\r\n'.repeat(4_000)}`],
    ['sends anything else', 'x'.repeat(100_000)],
  ])('is disconnected if it %s, before anything is handled', async (_, text) => {
    const { open, isWell, handled } = await begin();
    const socket = await open(text);
    await closed(socket.resume());
    expect(handled()).toBe(0);
    await isWell();
  });

  it('is disconnected if it sends a second request before the first is answered', async () => {
    const asked = Promise.withResolvers<undefined>();
    const { open, isWell, handled } = await begin(async () => {
      asked.resolve(undefined);
      return new Promise(() => undefined);
    });
    const socket = await open(get);
    await asked.promise;
    socket.write(get);
    await closed(socket.resume());
    expect(handled()).toBe(1);
    await isWell();
  });

  it('has five seconds for its request', async () => {
    const { clock, open, isWell } = await begin();
    const sockets = [await open(), await open('GET /x HTTP/1.1\r\nHost:')];
    await isWell();
    const ends = sockets.map((socket) => closed(socket.resume()));
    await clock.advance(5_000);
    await Promise.all(ends);
  });

  it('has ten seconds to read the response', async () => {
    const body = Buffer.alloc(64 * 1024 * 1024);
    const { clock, open, isWell, handled } = await begin(async () => body);
    const socket = await open(get);
    socket.pause();
    await isWell();
    expect(handled()).toBe(1);
    await clock.advance(10_000);
    let read = 0;
    socket.on('data', (chunk: Buffer) => (read += chunk.length));
    await closed(socket.resume());
    expect(read).toBeLessThan(body.length);
  });

  it('uses up no connections: the oldest of 256 without a request gives way to the next one', async () => {
    const { open, isWell } = await begin();
    const sockets: Socket[] = [];
    for (let count = 0; count < 256; count += 1) sockets.push(await open());
    const first = closed(sockets[0]!.resume());
    await isWell();
    await first;
    expect(sockets.slice(1).map(({ readyState }) => readyState)).toEqual(Array.from({ length: 255 }, () => 'open'));
  });
});
