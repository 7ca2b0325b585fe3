import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { detailed, shootNamed, statusWith } from '../../../test/doubles/probed-shoots.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import type { PageView } from '../feed/index.ts';
import { type PageOptions, createPage, pageServers } from './index.ts';

const built = mkdtempSync(join(tmpdir(), 'dwd-page-'));
beforeAll(() => {
  mkdirSync(join(built, 'assets'));
  writeFileSync(join(built, 'index.html'), '<!doctype html>');
  writeFileSync(join(built, 'assets', 'index-1.js'), 'script');
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

const viewAt = async (port: number, path: string): Promise<PageView> =>
  (await (await fetch(`http://127.0.0.1:${String(port)}${path}`)).json()) as PageView;

const start = async (change: Partial<PageOptions> = {}) => {
  const seed = { shoots: [shootNamed('one'), shootNamed('two')] as readonly ShootStatus[] };
  const clock = createVirtualClock();
  const stop = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  const port = await new Promise<number>((resolve) => {
    ended = createPage({
      address: { host: '127.0.0.1', port: 0 },
      directory: pathToFileURL(`${built}/`),
      status: async (shoot) =>
        shoot === undefined
          ? statusWith(seed.shoots)
          : statusWith(seed.shoots.filter(({ namespace }) => namespace === shoot).map(detailed)),
      clock,
      logger: createRecordingLogger(),
      onListening: (address) => resolve(address.port),
      ...change,
    }).run(stop.signal, () => undefined);
  });
  running.push(async () => {
    stop.abort();
    await ended;
  });
  const open = (path: string, options: RequestOptions = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const exchange = request({ host: '127.0.0.1', port, path, agent: false, ...options }, resolve);
      exchange.on('error', reject).end();
    });
  return { seed, clock, open, port, viewAt: (path: string) => viewAt(port, path) };
};

const read = async (message: IncomingMessage) => {
  let body = '';
  for await (const chunk of message.setEncoding('utf8')) body += chunk as string;
  return { status: message.statusCode, headers: message.headers, body };
};

describe('the page', () => {
  it('is served under a strict Content-Security-Policy', async () => {
    const { open } = await start();
    const { status, headers, body } = await read(await open('/'));
    expect([status, body]).toEqual([200, '<!doctype html>']);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'; .*trusted-types 'none'$/,
    );
  });

  it('has files that a browser may cache', async () => {
    const { open } = await start();
    const { headers, body } = await read(await open('/assets/index-1.js'));
    expect([body, headers['content-type'], headers['cache-control']]).toEqual([
      'script',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
  });

  it.each(['/assets/../index.html', '/assets/%2e%2e/index.html', '/etc/passwd', '/assets', '/status', '/demo/faults'])(
    'serves nothing but its own files: %s',
    async (path) => {
      const { open } = await start();
      expect(await read(await open(path))).toMatchObject({ status: 404, body: 'not found\n' });
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('only reads: no %s', async (method) => {
    const { open } = await start();
    for (const path of ['/', '/view', '/demo/faults']) {
      expect(await read(await open(path, { method }))).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    }
  });

  it('refuses host names that only a foreign page would use', async () => {
    const { open } = await start();
    for (const path of ['/', '/view']) {
      const { status, body } = await read(await open(path, { headers: { host: 'evil.example' } }));
      expect([status, body]).toEqual([421, 'this page is only served under the names of the loopback address\n']);
    }
  });
});

describe('/view', () => {
  it('has all shoots, and a sample of every five seconds, of the last hour', async () => {
    const { viewAt, clock } = await start();
    for (let taken = 0; taken < 721; taken += 1) await clock.advance(5_000);
    const { status, samples } = await viewAt('/view');
    expect(status.shoots.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(samples).toHaveLength(720);
    expect(samples.at(-1)).toMatchObject({ at: samples[0]!.at + 719 * 5_000, counts: { healthy: 2 } });
  });

  it('has the details of a shoot, by any of its names, until it is gone', async () => {
    const { viewAt, seed, clock } = await start();
    for (const name of ['dev%2Fone', 'shoot--dev--one']) {
      expect((await viewAt(`/view?shoot=${name}`)).shoot).toMatchObject({ name: 'one', threshold: 0.6 });
    }
    seed.shoots = [];
    await clock.advance(1_000);
    expect((await viewAt('/view?shoot=shoot--dev--one')).shoot).toBeUndefined();
  });

  it('of a seed that cannot be read is an error, and later samples follow', async () => {
    let isAway = true;
    const status = async () => {
      if (isAway) throw new Error('away');
      return statusWith([]);
    };
    const logger = createRecordingLogger();
    const { open, viewAt, clock } = await start({ status, logger });
    await clock.advance(60_000);
    expect(logger.at('warn')).toHaveLength(1);
    expect(await read(await open('/view'))).toMatchObject({ status: 500 });
    isAway = false;
    await clock.advance(5_000);
    expect((await viewAt('/view')).samples).toHaveLength(1);
  });
});

describe('a POST of the demo', () => {
  const begin = async () => {
    const asked: string[] = [];
    const inject = (query: URLSearchParams): boolean => asked.push(query.toString()) > 0 && query.has('kind');
    const { open, port } = await start({ inject });
    const host = `127.0.0.1:${String(port)}`;
    const post = async (query: string, headers: Readonly<Record<string, string>> = {}) =>
      read(
        await open(`/demo/faults${query}`, { method: 'POST', headers: { host, origin: `http://${host}`, ...headers } }),
      );
    return { asked, post };
  };

  it('does what the page requests, and says if there is no such thing', async () => {
    const { asked, post } = await begin();
    expect(await post('?kind=a')).toMatchObject({ status: 200 });
    expect(await post('')).toMatchObject({ status: 400, body: 'no such shoot or fault\n' });
    expect(asked).toEqual(['kind=a', '']);
  });

  it.each<[what: string, status: number, headers: Readonly<Record<string, string>>]>([
    ['another page, or a form of it', 403, { origin: 'http://evil.example' }],
    ['another port', 403, { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed frame', 403, { origin: 'null' }],
    ['a DNS name that an attacker points here', 421, { host: 'evil.example', origin: 'http://evil.example' }],
  ])('does nothing for %s', async (_, status, headers) => {
    const { asked, post } = await begin();
    expect([(await post('?kind=a', headers)).status, asked]).toEqual([status, []]);
  });
});

/** Starts the page of a prober whose files are in this directory. */
const startPageOf = async (directory: string) => {
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const bound = { host: '127.0.0.1', port: 0 };
  const [page] = pageServers({ address: bound, directory: pathToFileURL(`${directory}/`) })({
    clock,
    logger,
    lease: { namespace: 'garden', name: 'lead' },
    status: (shoot) => ({ ...statusWith([shootNamed(shoot ?? 'one')]), leads: false }),
  });
  const stop = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = page!.run(stop.signal, resolve);
    ended.then(() => reject(new Error('it has ended')), reject);
  });
  running.push(async () => {
    stop.abort();
    await ended;
  });
  return { logger };
};

describe('the page of a prober', () => {
  it('shows its own status, and where its replicas are', async () => {
    const { logger } = await startPageOf(built);
    const port = logger.lines.find(({ message }) => message === 'listening')?.fields.port as number;
    const view = { namespace: 'garden', status: { leads: false, shoots: [{ name: 'one' }] } };
    expect(await viewAt(port, '/view')).toMatchObject(view);
  });

  it('does not end the prober if it is not built', async () => {
    const { logger } = await startPageOf(`${built}/none`);
    expect(logger.lines).toMatchObject([{ level: 'error', message: 'the page is not served; protection goes on' }]);
  });
});
