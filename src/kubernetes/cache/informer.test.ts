import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../../simulator/apiserver/server.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import { type ScriptedExchange, type ScriptedStream, createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import type { Labels } from '../../ports/meter.ts';
import { DecodeError, decodeObject } from '../api/decode.ts';
import { ApiError } from '../api/errors.ts';
import { type InformerOptions, createInformer } from './informer.ts';
import type { StoreChange } from './store.ts';
import { waitForSync } from './wait-for-sync.ts';
import { createWatchRegistry } from './watch-registry.ts';

/** Keeps the label `v`; an object without it cannot be decoded. */
const project = (json: unknown, path: string): string => {
  const labels = decodeObject(decodeObject(json, path).metadata, `${path}.metadata`).labels;
  const { v } = decodeObject(labels, `${path}.metadata.labels`);
  if (typeof v !== 'string') throw new DecodeError(`${path}.metadata.labels.v`, 'a string', v);
  return v;
};

const start = (options: Partial<InformerOptions<string>> = {}) => {
  const clock = createVirtualClock();
  const kube = createScriptedKube();
  const logger = createRecordingLogger();
  const informer = createInformer({
    kube,
    clock,
    logger,
    random: { next: () => 0.5 },
    path: '/api/v1/secrets',
    project,
    registry: createWatchRegistry(createRecordingMeter()),
    ...options,
  });
  const changes: StoreChange<string>[] = [];
  informer.subscribe((change) => changes.push(change));
  const abort = new AbortController();
  return {
    clock,
    kube,
    logger,
    informer,
    changes,
    abort,
    done: informer.run(abort.signal),
    /** Returns the next request, once everything runnable has run. */
    take: async () => {
      await clock.settle();
      return kube.take();
    },
    content: (): Readonly<Record<string, string>> => Object.fromEntries(informer.entries()),
  };
};

type Bench = ReturnType<typeof start>;

interface Item {
  readonly metadata: Readonly<Record<string, unknown>>;
}

const item = (name: string, resourceVersion: number | string, v: unknown = `${name}@${resourceVersion}`): Item => ({
  metadata: { namespace: 'ns', name, resourceVersion: String(resourceVersion), labels: { v } },
});

const listOf = (resourceVersion: number | string, items: readonly unknown[], more = {}): unknown => ({
  kind: 'SecretList',
  apiVersion: 'v1',
  metadata: { resourceVersion: String(resourceVersion), ...more },
  items,
});

const event = (type: string, object: object): unknown => ({
  type,
  object: { kind: 'Secret', apiVersion: 'v1', ...object },
});

const bookmark = (resourceVersion: number): unknown =>
  event('BOOKMARK', { metadata: { resourceVersion: String(resourceVersion) } });

const status = (code: number, reason: string, more = {}): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  ...more,
});

/** Starts a bench, answers its list and opens its first watch. */
const follow = async (items: readonly unknown[] = [], options: Partial<InformerOptions<string>> = {}) => {
  const bench = start(options);
  (await bench.take()).respond(200, listOf(10, items));
  const stream = (await bench.take()).stream();
  await bench.clock.settle();
  bench.changes.length = 0;
  return { ...bench, stream };
};

const versionOf = (exchange: ScriptedExchange): string | undefined => exchange.request.query?.resourceVersion;
const isWatch = (exchange: ScriptedExchange): boolean => exchange.request.query?.watch === 'true';

/** A watch that is open this long resets the back-off. */
const goodMs = 60_000;

describe('rule 12: list, then watch', () => {
  it('rules 12, 20: watches from the version of the list, by its selectors, with bookmarks, for 5 to 10 minutes', async () => {
    const query = { fieldSelector: 'metadata.name=x', labelSelector: 'a in (b,c)' };
    for (const [random, seconds] of [
      [0, '300'],
      [0.5, '450'],
      [0.9999, '599'],
    ] as const) {
      const bench = start({ random: { next: () => random }, query });
      const list = await bench.take();
      expect(list.request).toMatchObject({ method: 'GET', path: '/api/v1/secrets' });
      expect(list.request.query).toEqual({ ...query, limit: '500' });
      expect(list.request.headers?.accept).toBe('application/json');
      expect(list.request.timeoutMs).toBe(60_000);
      list.respond(200, listOf(42, [item('a', 1)]));
      const { request } = await bench.take();
      expect(request.path).toBe('/api/v1/secrets');
      expect(request.query).toEqual({
        ...query,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: '42',
        timeoutSeconds: seconds,
      });
      expect(request.timeoutMs).toBeUndefined();
    }
  });

  it('rule 12: keeps the store in sync and announces every change once, after the store shows it', async () => {
    const { stream, informer, changes, clock } = await follow([item('a', 1), item('b', 2)]);
    const seen: (string | undefined)[] = [];
    informer.subscribe(({ key }) => seen.push(informer.get(key)));
    stream.send(event('ADDED', item('c', 11)));
    stream.send(event('MODIFIED', item('a', 12)));
    stream.send(event('DELETED', item('b', 13, 'last words')));
    await clock.settle();
    expect(changes).toEqual([
      { type: 'set', key: 'ns/c', value: 'c@11' },
      { type: 'set', key: 'ns/a', value: 'a@12', previous: 'a@1' },
      { type: 'deleted', key: 'ns/b', value: 'last words' },
    ]);
    expect(seen).toEqual(['c@11', 'a@12', undefined]);
    expect(informer.state()).toMatchObject({ synced: true, lastError: undefined });
  });

  it('a listener that throws or unsubscribes does not affect others', async () => {
    const { stream, informer, changes, clock, logger } = await follow();
    const leave = informer.subscribe(() => {
      leave();
      throw new Error('listener');
    });
    stream.send(event('ADDED', item('a', 11)));
    stream.send(event('ADDED', item('b', 12)));
    await clock.settle();
    expect(changes).toHaveLength(2);
    expect(logger.at('error')).toEqual(['a listener of the cache failed']);
  });
});

it('rule 13: a watch that ends after a bookmark resumes there, without a list', async () => {
  for (const endIt of ['end', 'fail'] as const) {
    const { stream, clock, take, changes } = await follow([item('a', 1)]);
    stream.send(event('MODIFIED', item('a', 11)));
    stream.send(bookmark(77));
    await clock.advance(goodMs);
    if (endIt === 'end') stream.end();
    else stream.fail(new ApiError({ code: 'ConnectionError', message: 'reset' }));
    await clock.advance(2_000);
    const next = await take();
    expect([isWatch(next), versionOf(next)]).toEqual([true, '77']);
    expect(changes).toHaveLength(1);
  }
});

const gone: readonly (readonly [string, (exchange: ScriptedExchange) => void])[] = [
  ['HTTP 410', (exchange) => exchange.respond(410, status(410, 'Expired'))],
  ['HTTP 404, as of a kind that is gone', (exchange) => exchange.respond(404, '404 page not found\n')],
  ['an ERROR event', (exchange) => exchange.stream().send({ type: 'ERROR', object: status(410, 'Expired') })],
];

it.each(gone)('rule 14: %s: lists again, and the store changes in one step', async (_name, answer) => {
  const before = [item('same', 1), item('changed', 2), item('gone', 3)];
  const { stream, clock, take, changes, informer, content } = await follow(before);
  await clock.advance(goodMs);
  stream.end();
  const seen: unknown[] = [];
  informer.subscribe(() => seen.push(content()));
  answer(await take());
  await clock.advance(2_000);
  const list = await take();
  expect(isWatch(list)).toBe(false);
  expect(informer.synced).toBe(true);
  expect(content()).toEqual({ 'ns/same': 'same@1', 'ns/changed': 'changed@2', 'ns/gone': 'gone@3' });
  list.respond(200, listOf(90, [item('same', 1), item('changed', 20), item('new', 30)]));
  expect(versionOf(await take())).toBe('90');
  expect(changes).toEqual([
    { type: 'deleted', key: 'ns/gone', value: 'gone@3' },
    { type: 'set', key: 'ns/changed', value: 'changed@20', previous: 'changed@2', isListed: true },
    { type: 'set', key: 'ns/new', value: 'new@30' },
  ]);
  const after = { 'ns/same': 'same@1', 'ns/changed': 'changed@20', 'ns/new': 'new@30' };
  expect(seen).toEqual([after, after, after]);
});

describe('rule 15: refusals', () => {
  const refusal =
    (code: number, reason: string, headers = {}) =>
    (exchange: ScriptedExchange): void =>
      exchange.respond(code, status(code, reason), headers);
  const refusalEvent = (retryAfterSeconds: number) => (exchange: ScriptedExchange) =>
    exchange
      .stream()
      .send({ type: 'ERROR', object: status(429, 'TooManyRequests', { details: { retryAfterSeconds } }) });

  it.each([
    ['429 with Retry-After', refusal(429, 'TooManyRequests', { 'retry-after': '45' }), 45_000],
    ['503', refusal(503, 'ServiceUnavailable', { 'retry-after': '3' }), 3_000],
    ['403', refusal(403, 'Forbidden'), 1_200],
    ['429 as an ERROR event', refusalEvent(20), 20_000],
  ])('rule 15: %s: watches again from the same version, without a list', async (_name, refuse, ms) => {
    const { stream, clock, take, kube } = await follow();
    stream.send(bookmark(33));
    await clock.advance(goodMs);
    stream.end();
    refuse(await take());
    await clock.advance(ms - 1);
    expect(kube.waiting).toBe(0);
    await clock.advance(1);
    const next = await take();
    expect([isWatch(next), versionOf(next)]).toEqual([true, '33']);
  });

  const waits = async (
    bench: Bench,
    refuse: (exchange: ScriptedExchange) => void,
    count: number,
  ): Promise<number[]> => {
    const waited: number[] = [];
    for (let round = 0; round < count; round += 1) {
      refuse(await bench.take());
      await bench.clock.settle();
      const before = bench.clock.monotonic();
      await bench.clock.runUntil(() => bench.kube.waiting > 0);
      waited.push(bench.clock.monotonic() - before);
    }
    return waited;
  };

  it('rule 15: backs off from 0.8 s to 30 s, for lists and watches, within bounds for any random number', async () => {
    const refuse = (exchange: ScriptedExchange): void =>
      exchange.fail(new ApiError({ code: 'ConnectionError', message: 'x' }));
    const least = await waits(start({ random: { next: () => 0 } }), refuse, 9);
    expect(least).toEqual([800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 15_000, 15_000]);
    const most = await waits(start({ random: { next: () => 0.999_999 } }), refuse, 9);
    for (const [index, wait] of most.entries()) {
      expect(wait).toBeGreaterThan(least[index] ?? 0);
      expect(wait).toBeLessThanOrEqual(30_000);
    }
    const watching = await follow([], { random: { next: () => 0 } });
    watching.stream.end();
    await watching.clock.runUntil(() => watching.kube.waiting > 0);
    expect(await waits(watching, refuse, 3)).toEqual([1_600, 3_200, 6_400]);
  });

  it('rule 15: a long watch resets the back-off, a short one does not', async () => {
    const bench = start({ random: { next: () => 0 } });
    const refuse = (exchange: ScriptedExchange): void => exchange.respond(500, '');
    (await bench.take()).respond(200, listOf(1, []));
    expect(await waits(bench, refuse, 4)).toEqual([800, 1_600, 3_200, 6_400]);
    const short = (await bench.take()).stream();
    await bench.clock.advance(5_000);
    short.fail(new ApiError({ code: 'ConnectionError', message: 'x' }));
    await bench.clock.runUntil(() => bench.kube.waiting > 0);
    expect(await waits(bench, refuse, 1)).toEqual([15_000]);
    const long = (await bench.take()).stream();
    await bench.clock.advance(goodMs);
    long.fail(new ApiError({ code: 'ConnectionError', message: 'x' }));
    await bench.clock.runUntil(() => bench.kube.waiting > 0);
    expect(await waits(bench, refuse, 1)).toEqual([1_600]);
  });
});

describe('rule 16: a server that closes at once', () => {
  it.each<[string, (exchange: ScriptedExchange) => void]>([
    ['with a Timeout event', (exchange) => exchange.stream().send(event('ERROR', status(504, 'Timeout')))],
    ['by 410, so that each watch takes a list', (exchange) => exchange.respond(410, status(410, 'Expired'))],
    [
      'after an event',
      (exchange) => {
        const stream = exchange.stream();
        stream.send(event('ADDED', item('a', 11)));
        stream.end();
      },
    ],
  ])('rule 16: %s, again and again, gets ever fewer requests', async (_name, close) => {
    const bench = start();
    let watches = 0;
    while (bench.clock.monotonic() < 600_000) {
      await bench.clock.settle();
      if (bench.kube.waiting === 0) {
        await bench.clock.advance(500);
        continue;
      }
      const exchange = bench.kube.take();
      if (isWatch(exchange)) {
        watches += 1;
        close(exchange);
      } else exchange.respond(200, listOf(10, []));
    }
    expect(watches).toBeLessThan(40);
    expect(bench.kube.openBodies).toBe(0);
  });
});

describe('rule 17: silence', () => {
  const longestSilenceMs = 90_000;

  it('rule 17: a stream that sends no byte for 90 s is aborted and resumed at once, without a warning', async () => {
    const { kube, clock, take, informer, logger } = await follow();
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(longestSilenceMs - 1);
      expect([kube.openBodies, informer.state().problem, informer.interruptedMs()]).toEqual([1, undefined, 0]);
      await clock.advance(1);
      (await take()).respond(200, listOf(10, []));
      const next = await take();
      expect([isWatch(next), versionOf(next), kube.openBodies]).toEqual([true, '10', 0]);
      next.stream();
      await clock.settle();
    }
    expect([logger.at('warn'), logger.at('error')]).toEqual([[], []]);
  });

  it('rules 14, 17: a silent watch from a version that a restore of etcd has undone leads to a list', async () => {
    const clock = createVirtualClock();
    let server = createSimApiServer({ clock });
    server.store.put(simKinds.Secret, { metadata: { namespace: 'ns', name: 'a', labels: { v: 'undone' } } });
    const { changes } = start({ clock, kube: { request: (request) => server.request(request) } });
    await clock.settle();
    server = createSimApiServer({ clock });
    // The server ends the first watch after 450 s; the next one is silent.
    await clock.advance(450_000 + longestSilenceMs + 2_000);
    expect(changes).toMatchObject([{ type: 'set', value: 'undone' }, { type: 'deleted' }]);
  });

  it('rule 17: every byte restarts the limit, even if it completes no event', async () => {
    const { stream, clock, kube } = await follow();
    stream.send(bookmark(20));
    for (let count = 0; count < 5; count += 1) {
      await clock.advance(longestSilenceMs - 1);
      stream.send(count === 0 ? '{"type":' : ' ');
      await clock.settle();
    }
    expect(kube.openBodies).toBe(1);
    await clock.advance(longestSilenceMs - 1);
    expect(kube.openBodies).toBe(1);
    await clock.advance(1);
    expect(kube.openBodies).toBe(0);
  });

  it('rule 17: a process that was suspended reads pending bytes before it gives up the stream as silent', async () => {
    const clock = createVirtualClock();
    const process = new SimulatedProcess(clock);
    const kube = createScriptedKube();
    start({ kube: process.connect(kube), clock: process.clock });
    await clock.settle();
    kube.take().respond(200, listOf(10, []));
    await clock.settle();
    const stream = kube.take().stream();
    stream.send(bookmark(20));
    await clock.settle();
    process.suspend();
    await clock.advance(200_000);
    stream.send(bookmark(30));
    await process.resume();
    await clock.advance(longestSilenceMs - 1);
    expect(kube.openBodies).toBe(1);
    await clock.advance(1);
    expect([kube.openBodies, versionOf(kube.take())]).toEqual([0, '30']);
  });

  it('rule 17: a watch without any response is aborted, too', async () => {
    const bench = start();
    (await bench.take()).respond(200, listOf(10, []));
    const unanswered = await bench.take();
    await bench.clock.advance(longestSilenceMs - 1);
    expect(unanswered.request.signal.aborted).toBe(false);
    await bench.clock.advance(1);
    expect(unanswered.request.signal.aborted).toBe(true);
    expect(bench.informer.state().lastError?.message).toMatch(/no byte within 90000 ms/);
  });

  const measured = () => {
    const meter = createRecordingMeter();
    const ageOf = (labels: Labels): number | undefined => meter.value('dwd_watch_age_seconds', labels);
    return { ageOf, registry: createWatchRegistry(meter) };
  };

  it('rule 17: reports the time of silence from 90 s on, until the watch is open again, also if the server cannot confirm its version', async () => {
    const { ageOf, registry } = measured();
    const bench = await follow([], { registry, query: { fieldSelector: 'metadata.name=x' } });
    const { clock, stream, take, informer } = bench;
    const age = (): number | undefined => ageOf({ resource: 'secrets', selector: 'metadata.name=x' });
    await clock.advance(60_000);
    stream.send(bookmark(20));
    await clock.advance(90_000);
    expect([informer.state().problem, informer.interruptedMs(), age()]).toEqual([undefined, 0, 90]);
    await clock.advance(2_000);
    expect([informer.state().problem, informer.interruptedMs(), age()]).toEqual([
      'nothing heard of the watch for 92 s',
      92_000,
      92,
    ]);
    const question = await take();
    const version = { resourceVersion: '20', resourceVersionMatch: 'NotOlderThan' };
    expect(question.request).toMatchObject({ timeoutMs: 10_000, noRetry: true });
    expect(question.request.query).toEqual({ fieldSelector: 'metadata.name=x', limit: '1', ...version });
    question.respond(503, 'closed for now');
    const next = await take();
    expect([informer.state().problem, age()]).toEqual(['nothing heard of the watch for 92 s', 92]);
    next.stream();
    await clock.settle();
    expect([isWatch(next), versionOf(next), informer.state().problem, age()]).toEqual([true, '20', undefined, 0]);
    bench.abort.abort();
    await bench.done;
    expect(age()).toBeUndefined();
  });

  it.each([
    ['ends', (stream: ScriptedStream) => stream.end()],
    ['breaks', (stream: ScriptedStream) => stream.fail(new ApiError({ code: 'ConnectionError', message: 'reset' }))],
  ])('rule 17: a watch that the server %s is lost from then on, not since its last byte', async (_name, lose) => {
    const { ageOf, registry } = measured();
    const { clock, stream, informer } = await follow([], { registry });
    await clock.advance(80_000);
    lose(stream);
    await clock.advance(5_000);
    expect(informer.state().problem ?? '').not.toContain('nothing heard');
    expect(ageOf({ resource: 'secrets', selector: '' })).toBe(5);
  });

  it('rule 17: the metric shows the oldest of several watches that differ only in their namespace', async () => {
    const { ageOf, registry } = measured();
    const options = { registry, query: { labelSelector: 'a=b' } };
    const old = await follow([], { ...options, path: '/apis/x.example/v1/namespaces/one/wheels' });
    await old.clock.advance(7_000);
    await follow([], { ...options, path: '/apis/x.example/v1/namespaces/two/wheels' });
    expect(ageOf({ resource: 'wheels.x.example', selector: 'a=b' })).toBe(7);
  });
});

describe('rule 18: broken streams', () => {
  const whole = `${JSON.stringify(event('ADDED', item('a', 11)))}\n`;

  it.each([
    ['ends inside an event', whole.slice(0, 40)],
    ['contains no JSON', 'upstream connect error\n'],
    ['contains an unknown type', event('RENAMED', item('b', 12))],
    ['contains another kind', { type: 'ADDED', object: { kind: 'Pod', ...item('b', 12) } }],
    ['contains a Status that is no ERROR', { type: 'ADDED', object: status(410, 'Expired') }],
    ['contains an object without version', event('ADDED', { metadata: { name: 'x' } })],
  ])('rule 18: a stream that %s resumes after the last whole event and is logged once', async (_name, broken) => {
    const { stream, clock, take, content, logger, kube } = await follow();
    const seconds = 5;
    stream.send(whole);
    for (let round = 0; round < 2; round += 1) {
      const current = round === 0 ? stream : (await take()).stream();
      current.send(broken);
      // Ignored: what follows a broken event may belong to anything.
      current.send(event('ADDED', item('c', 99)));
      current.end();
      await clock.advance(seconds * 1_000);
    }
    const next = await take();
    expect([isWatch(next), versionOf(next)]).toEqual([true, '11']);
    expect(content()).toEqual({ 'ns/a': 'a@11' });
    expect(logger.at('warn')).toEqual(['list and watch interrupted, trying again']);
    expect(kube.openBodies).toBe(0);
  });

  it('rule 18: a stream that breaks at the same place again and again is replaced by a list', async () => {
    const bench = await follow();
    bench.stream.send('nonsense\n');
    const requests: boolean[] = [];
    for (let round = 0; round < 7; round += 1) {
      if (round !== 3) await bench.clock.advance(30_000);
      const exchange = await bench.take();
      requests.push(isWatch(exchange));
      if (isWatch(exchange)) exchange.stream().send('nonsense\n');
      else exchange.respond(200, listOf(20, []));
    }
    expect(requests).toEqual([true, true, false, true, true, true, false]);
  });

  it("rule 18: the kind of custom resources is that of their items, not derived from the list's kind", async () => {
    const bench = start();
    const cluster = { apiVersion: 'x/v1', kind: 'Cluster', ...item('a', 1) };
    (await bench.take()).respond(200, {
      kind: 'Clusters',
      metadata: { resourceVersion: '10' },
      items: [cluster],
    });
    const stream = (await bench.take()).stream();
    stream.send({ type: 'MODIFIED', object: { kind: 'Cluster', ...item('a', 11) } });
    await bench.clock.settle();
    expect(bench.content()).toEqual({ 'ns/a': 'a@11' });
    stream.send({ type: 'MODIFIED', object: { kind: 'Pod', ...item('a', 12) } });
    await bench.clock.settle();
    expect(bench.content()).toEqual({ 'ns/a': 'a@11' });
  });
});

describe('rule 19: paged lists', () => {
  it('rule 19: reads all pages; the store shows nothing before the last', async () => {
    const bench = start({ pageSize: 2 });
    const first = await bench.take();
    expect(first.request.query).toEqual({ limit: '2' });
    first.respond(200, listOf(10, [item('a', 1), item('b', 2)], { continue: 'token-1' }));
    const second = await bench.take();
    expect(second.request.query).toEqual({ limit: '2', continue: 'token-1' });
    expect(bench.informer.synced).toBe(false);
    expect(bench.content()).toEqual({});
    second.respond(200, listOf(20, [item('c', 3)], { continue: '' }));
    // The watch starts at the version of the first page.
    expect(versionOf(await bench.take())).toBe('10');
    expect(Object.keys(bench.content())).toEqual(['ns/a', 'ns/b', 'ns/c']);
    expect(bench.changes).toHaveLength(3);
  });

  it('rule 19: 410 on a later page leads to one list without pages', async () => {
    const bench = start({ pageSize: 2 });
    (await bench.take()).respond(200, listOf(10, [item('a', 1)], { continue: 'token-1' }));
    (await bench.take()).respond(410, status(410, 'Expired'));
    const full = await bench.take();
    expect(full.request.query).toEqual({});
    full.respond(200, listOf(20, [item('b', 2)]));
    expect(versionOf(await bench.take())).toBe('20');
    expect(bench.content()).toEqual({ 'ns/b': 'b@2' });
  });

  it('a list without a resourceVersion is malformed and retried', async () => {
    const bench = start();
    (await bench.take()).respond(200, { kind: 'SecretList', metadata: {}, items: [] });
    await bench.clock.settle();
    expect(bench.informer.synced).toBe(false);
    expect(bench.informer.state().lastError).toMatchObject({ code: 'MalformedResponse' });
    await bench.clock.advance(2_000);
    expect(isWatch(await bench.take())).toBe(false);
  });
});

describe('rule 20: requested and kept objects', () => {
  it('rule 20: an object that cannot be projected is left out and logged once; the rest goes on', async () => {
    const bench = start();
    const broken = item('bad', 2, 5);
    (await bench.take()).respond(200, listOf(10, [item('a', 1), broken, { metadata: null }, item('b', 3)]));
    const stream = (await bench.take()).stream();
    await bench.clock.settle();
    expect(bench.content()).toEqual({ 'ns/a': 'a@1', 'ns/b': 'b@3' });
    stream.send(event('MODIFIED', broken));
    stream.send(event('MODIFIED', item('b', 12)));
    await bench.clock.settle();
    const problem = 'DecodeError: ns/bad.metadata.labels.v: expected a string, found a number';
    expect(bench.logger.lines.filter(({ fields }) => fields.object !== undefined)).toMatchObject([
      { level: 'error', fields: { informer: '/api/v1/secrets', object: 'ns/bad', problem } },
    ]);
    expect(bench.content()['ns/b']).toBe('b@12');
    stream.send(event('MODIFIED', item('bad', 13)));
    await bench.clock.settle();
    expect(bench.content()['ns/bad']).toBe('bad@13');
  });

  it('rule 20: an object that becomes undecodable keeps its last good state, even after a list, until it is deleted', async () => {
    const { stream, clock, take, changes, content } = await follow([item('a', 1)]);
    stream.send(event('MODIFIED', item('a', 11, 5)));
    await clock.advance(goodMs);
    stream.send({ type: 'ERROR', object: status(410, 'Expired') });
    await clock.advance(2_000);
    (await take()).respond(200, listOf(20, [item('a', 11, 5)]));
    const next = (await take()).stream();
    await clock.settle();
    expect([content(), changes]).toEqual([{ 'ns/a': 'a@1' }, []]);
    next.send(event('DELETED', item('a', 21, 5)));
    await clock.settle();
    expect(changes).toEqual([{ type: 'deleted', key: 'ns/a', value: 'a@1' }]);
  });
});

describe('rule 21: start and stop', () => {
  const stages: readonly (readonly [string, (bench: Bench) => Promise<unknown>])[] = [
    ['before the response to the list', async () => undefined],
    ['while the list is read', async ({ take }) => (await take()).stream().send('{')],
    ['between two attempts', async ({ take }) => (await take()).respond(500, '')],
    ['before the response to the watch', async ({ take }) => (await take()).respond(200, listOf(10, []))],
    [
      'while the watch is open',
      async ({ take }) => {
        (await take()).respond(200, listOf(10, []));
        (await take()).stream().send('{"type"');
      },
    ],
  ];

  it.each(stages)('rule 21: stopping %s leaves no timers, listeners or requests', async (_name, reach) => {
    const bench = start();
    await reach(bench);
    await bench.clock.advance(100);
    bench.abort.abort(new Error('stop'));
    await bench.done;
    await bench.clock.settle();
    expect(bench.clock.pending).toBe(0);
    expect([bench.kube.waiting, bench.kube.openBodies]).toEqual([0, 0]);
    expect(getEventListeners(bench.abort.signal, 'abort')).toEqual([]);
    const { length } = bench.kube.requests;
    await bench.clock.advance(1_000_000);
    expect(bench.kube.requests).toHaveLength(length);
    expect(bench.logger.at('error')).toEqual([]);
  });

  it('rule 21: whenSynced waits for the first list, and for no longer than its signal', async () => {
    const bench = start();
    const abort = new AbortController();
    const reason = { enough: true };
    const givenUp = bench.informer.whenSynced(abort.signal);
    abort.abort(reason);
    await expect(givenUp).rejects.toBe(reason);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);

    const patient = new AbortController();
    const synced = bench.informer.whenSynced(patient.signal);
    (await bench.take()).respond(200, listOf(10, []));
    await synced;
    expect(getEventListeners(patient.signal, 'abort')).toEqual([]);
    await bench.informer.whenSynced(patient.signal);
  });

  it('rule 21: a cache that never syncs fails the start after the timeout, with the reason', async () => {
    const good = await follow();
    const denied = start();
    const slow = start({ path: '/apis/x/v1/slow', query: { fieldSelector: 'metadata.name=y' } });
    (await denied.take()).respond(
      403,
      status(403, 'Forbidden', { message: 'secrets is forbidden: User "x" cannot list' }),
    );
    await denied.clock.settle();
    const clock = createVirtualClock();
    const { signal } = new AbortController();
    const all = [good.informer, denied.informer, slow.informer];
    const outcome = waitForSync(all, { clock, timeoutMs: 60_000, signal });
    const failed = expect(outcome).rejects.toThrow(
      'caches were not filled within 60000 ms: /api/v1/secrets (GET /api/v1/secrets: 403 Forbidden: secrets is forbidden: ' +
        'User "x" cannot list); /apis/x/v1/slow, fieldSelector metadata.name=y (no response to the list yet)',
    );
    await clock.advance(60_000);
    await failed;
    expect(getEventListeners(signal, 'abort')).toEqual([]);

    await waitForSync([good.informer], { clock, timeoutMs: 60_000, signal });
    expect(clock.pending).toBe(0);
    await expect(
      waitForSync([slow.informer], { clock, timeoutMs: 60_000, signal: AbortSignal.abort('stop') }),
    ).rejects.toBe('stop');
    expect(clock.pending).toBe(0);
  });

  it('rule 21: 403 and 404 on the list are retried forever, and their reason is reported until they are over', async () => {
    const bench = start();
    for (let round = 0; round < 10; round += 1) {
      const [code, reason] = round % 2 === 0 ? ([403, 'Forbidden'] as const) : ([404, 'NotFound'] as const);
      (await bench.take()).respond(code, status(code, reason));
      await bench.clock.settle();
      expect(bench.informer.state().lastError).toMatchObject({ code: reason });
      await bench.clock.advance(30_000);
    }
    (await bench.take()).respond(200, listOf(10, []));
    await bench.clock.settle();
    expect(bench.informer.state()).toMatchObject({ synced: true, lastError: undefined });
    expect(bench.logger.at('warn')).toHaveLength(1);
  });
});
