import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { outcomeOf } from '../../../test/doubles/outcome.ts';
import { type ScriptedKube, createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import type { Labels, Meter } from '../../ports/meter.ts';
import type { KubeRequest } from '../api/kube.ts';
import { createKubeClient } from './client.ts';
import { type RateLimiterOptions, createRateLimiter, withRateLimit } from './rate-limit.ts';
import { retryThrottled } from './retry-throttled.ts';

interface Sample {
  readonly name: string;
  readonly value: number;
  readonly labels: Labels | undefined;
}

let clock: VirtualClock;
let server: ScriptedKube;
let samples: Sample[];
beforeEach(() => {
  clock = createVirtualClock();
  server = createScriptedKube();
  samples = [];
});

const instrument = ({ name }: { readonly name: string }) => {
  const add = (value: number, labels?: Labels): void => void samples.push({ name, value, labels });
  return { inc: () => undefined, set: add, observe: add, remove: () => undefined };
};
const meter: Meter = { counter: instrument, gauge: instrument, histogram: instrument };

const limited = (options: Partial<RateLimiterOptions> = {}) =>
  withRateLimit(server, createRateLimiter({ qps: 5, burst: 10, urgentInFlight: 50, clock, meter, ...options }), clock);

const send = (kube: ReturnType<typeof limited>, request: Partial<KubeRequest> = {}) =>
  outcomeOf(kube.request({ method: 'GET', path: '/x', signal: new AbortController().signal, ...request }));

const paths = (): readonly string[] => server.requests.map(({ path }) => path);

describe('rule 6: the token bucket', () => {
  it('rule 6: lets no request wait without a limit', async () => {
    const kube = limited({ qps: Number.POSITIVE_INFINITY, burst: 1 });
    for (let count = 0; count < 1_000; count += 1) send(kube);
    await clock.settle();
    expect(server.requests).toHaveLength(1_000);
    expect(clock.pending).toBe(0);
  });

  it('rule 6: a request that arrives at the instant of a new token does not overtake either', async () => {
    const kube = limited({ burst: 1 });
    clock.timer(200, () => send(kube, { path: 'late' }));
    for (const name of ['a', 'b', 'c']) send(kube, { path: name });
    await clock.advance(1_000);
    expect(paths()).toEqual(['a', 'b', 'c', 'late']);
  });

  it('rule 6: sends at most burst + qps * span in any span, and is never idle while a request waits', async () => {
    const arrival = fc.record({ gapMs: fc.nat(900), abortAfterMs: fc.option(fc.nat(2_000), { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(arrival, { maxLength: 60 }),
        async (tenths, burst, arrivals) => {
          const qps = tenths / 2;
          clock = createVirtualClock();
          const sentAt: number[] = [];
          const limiter = createRateLimiter({ qps, burst, urgentInFlight: 1, clock, meter });
          let waiting = 0;
          for (const { gapMs, abortAfterMs } of arrivals) {
            await clock.advance(gapMs);
            const controller = new AbortController();
            waiting += 1;
            limiter.admit({ method: 'GET', path: '/', signal: controller.signal }).then(
              () => {
                waiting -= 1;
                sentAt.push(clock.monotonic());
              },
              () => {
                waiting -= 1;
              },
            );
            if (abortAfterMs !== undefined) clock.timer(abortAfterMs, () => controller.abort(new Error('gave up')));
          }
          await clock.settle();
          // The remaining requests are served at the rate, so all of them within this time.
          await clock.advance(((waiting + 1) * 1_000) / qps + 2_000);
          expect(waiting).toBe(0);
          expect(clock.pending).toBe(0);
          for (const [first, from] of sentAt.entries()) {
            for (const [last, to] of sentAt.entries()) {
              if (last < first) continue;
              expect(last - first + 1).toBeLessThanOrEqual(burst + ((to - from) * qps) / 1_000 + 1e-6);
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('rule 6: deadlines and aborts', () => {
  it('rule 6: fails fast if the wait is longer than the deadline, and takes no place in the line', async () => {
    const kube = limited({ burst: 1 });
    send(kube, { path: 'first' });
    const second = send(kube, { path: 'second', timeoutMs: 201 });
    const third = send(kube, { path: 'third', timeoutMs: 400 });
    const fourth = send(kube, { path: 'fourth', timeoutMs: 401 });
    await clock.settle();
    expect(second()).toBeUndefined();
    expect(third()).toMatchObject({
      error: { code: 'Timeout', status: undefined, handling: 'retry', rateLimited: true },
    });
    expect(String((third() as { readonly error: unknown }).error)).toContain(
      'GET third: not sent: rate limit: would wait 0.4 s, longer than the deadline of 0.4 s',
    );
    expect(fourth()).toBeUndefined();
    await clock.advance(400);
    expect(paths()).toEqual(['first', 'second', 'fourth']);
  });

  it('rule 6: a request that was sent before is not reported as held back', async () => {
    const kube = retryThrottled(limited({ burst: 1 }), clock);
    const retried = send(kube, { path: 'retried', timeoutMs: 2_000 });
    await clock.settle();
    server.take().respond(429, '', { 'retry-after': '1' });
    for (let count = 0; count < 15; count += 1) send(kube, { path: 'other' });
    await clock.advance(1_000);
    expect(retried()).toMatchObject({ error: { code: 'Timeout', rateLimited: false } });
    expect(String((retried() as { readonly error: unknown }).error)).toContain(
      'not sent: rate limit: would wait 2.2 s',
    );
  });

  it('rule 6: the wait is part of the deadline', async () => {
    const kube = limited({ burst: 1 });
    send(kube);
    send(kube, { timeoutMs: 1_000 });
    send(kube);
    await clock.advance(400);
    expect(server.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([undefined, 800, undefined]);
  });

  it('rule 6: a request that is aborted while queued leaves the line, and later ones move up; the last leaves no timer', async () => {
    const kube = limited({ burst: 1 });
    const controller = new AbortController();
    send(kube, { path: 'a' });
    const quitters = ['b', 'd'].map((path) => send(kube, { path, signal: controller.signal }));
    await clock.settle();
    expect(clock.pending).toBe(1);
    send(kube, { path: 'c' });
    controller.abort(new Error('gave up'));
    await clock.settle();
    for (const outcome of quitters) expect(outcome()).toMatchObject({ error: { message: 'gave up' } });
    await clock.advance(200);
    expect([paths(), clock.pending]).toEqual([['a', 'c'], 0]);
  });

  it.each(['urgent', undefined] as const)('rule 4: a request aborted before takes no token (%s)', async (priority) => {
    const kube = limited({ burst: 1, urgentInFlight: 1 });
    const signal = AbortSignal.abort(new Error('gave up'));
    const request = { signal, ...(priority === undefined ? {} : { priority }) };
    expect(send(kube, request)()).toBeUndefined();
    send(kube, priority === undefined ? {} : { priority });
    await clock.settle();
    expect(server.requests).toHaveLength(1);
  });
});

it.each([
  ['seed', 'kube'],
  ['garden', 'garden'],
] as const)('rule 6: waits and depth of the %s are metrics', async (cluster, name) => {
  const kube = limited({ burst: 1, cluster });
  for (let count = 0; count < 3; count += 1) send(kube);
  await clock.settle();
  send(kube, { priority: 'urgent' });
  await clock.advance(400);
  const of = (what: string) => samples.filter((sample) => sample.name === `dwd_${name}_rate_limit_${what}`);
  expect(of('waiting').map(({ value }) => value)).toEqual([1, 2, 1, 0]);
  expect(of('wait_seconds').map(({ value, labels }) => [value, labels?.lane])).toEqual([
    [0, 'ordinary'],
    [0, 'urgent'],
    [0.2, 'ordinary'],
    [0.4, 'ordinary'],
  ]);
});

describe('prober 5.4: urgent requests', () => {
  const urgent = { priority: 'urgent' } as const;

  it('prober 5.4: are neither delayed by the rate nor by requests that wait for it, and take none of their tokens', async () => {
    const kube = limited({ qps: 1, burst: 1 });
    for (let count = 0; count < 5; count += 1) send(kube, { path: 'slow' });
    for (let count = 0; count < 50; count += 1) send(kube, { ...urgent, path: 'fast' });
    await clock.settle();
    expect(paths().filter((path) => path === 'fast')).toHaveLength(50);
    await clock.advance(4_000);
    expect(paths().filter((path) => path === 'slow')).toHaveLength(5);
  });

  it('prober 5.4: at most 50 in flight, until the head of the response or a failure', async () => {
    const kube = limited();
    for (let index = 0; index < 60; index += 1) send(kube, { ...urgent, path: String(index) });
    await clock.advance(60_000);
    expect(server.requests).toHaveLength(50);
    server.take().stream();
    await clock.settle();
    server.take().fail(new Error('reset'));
    await clock.settle();
    expect(paths().slice(50)).toEqual(['50', '51']);
  });

  it('prober 5.4: a waiting request has a deadline, may be aborted, and gets the rest of its time', async () => {
    const kube = limited({ urgentInFlight: 1 });
    const controller = new AbortController();
    send(kube, { ...urgent, path: 'first' });
    const late = send(kube, { ...urgent, path: 'late', timeoutMs: 1_000 });
    const quitter = send(kube, { ...urgent, path: 'quitter', signal: controller.signal });
    send(kube, { ...urgent, path: 'last', timeoutMs: 5_000 });
    await clock.advance(1_000);
    expect(late()).toMatchObject({ error: { code: 'Timeout', rateLimited: true } });
    expect(String((late() as { readonly error: unknown }).error)).toContain('1 urgent requests in flight for 1000 ms');
    controller.abort(new Error('gave up'));
    await clock.settle();
    expect(quitter()).toMatchObject({ error: { message: 'gave up' } });
    server.take().fail(new Error('reset'));
    await clock.settle();
    expect(server.requests.map(({ path, timeoutMs }) => [path, timeoutMs])).toEqual([
      ['first', undefined],
      ['last', 4_000],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('prober 5.4: writes are served before reads, each first come, first served', async () => {
    const kube = limited({ urgentInFlight: 1 });
    const methods = ['GET', 'GET', 'PATCH', 'GET', 'DELETE'] as const;
    for (const [index, method] of methods.entries()) send(kube, { ...urgent, method, path: `${method} ${index}` });
    for (const _ of methods) {
      await clock.settle();
      server.take().fail(new Error('reset'));
    }
    expect(paths()).toEqual(['GET 0', 'PATCH 2', 'DELETE 4', 'GET 1', 'GET 3']);
    expect(samples.filter(({ name }) => name.endsWith('_waiting')).map(({ value }) => value)).toEqual([
      1, 2, 3, 4, 3, 2, 1, 0,
    ]);
  });

  it('prober 5.4: never more in flight than allowed, and no place is lost', async () => {
    const event = fc.constantFrom('send', 'answer', 'fail', 'abort');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(event, { maxLength: 60 }), async (most, events) => {
        clock = createVirtualClock();
        server = createScriptedKube();
        const kube = limited({ urgentInFlight: most });
        const client = createKubeClient({ kube, clock });
        const controllers: AbortController[] = [];
        for (const kind of events) {
          if (kind === 'send') {
            const controller = new AbortController();
            controllers.push(controller);
            const call = { method: 'GET', path: '/', decode: () => undefined } as const;
            client.call(call, { signal: controller.signal, ...urgent }).catch(() => undefined);
          } else if (kind === 'abort') controllers.shift()?.abort(new Error('gave up'));
          else if (server.waiting > 0 && kind === 'answer') server.take().respond(200, {});
          else if (server.waiting > 0) server.take().fail(new Error('reset'));
          await clock.settle();
          expect(server.waiting).toBeLessThanOrEqual(most);
        }
        for (const controller of controllers) controller.abort(new Error('over'));
        await clock.settle();
        expect(server.waiting).toBe(0);
        for (let count = 0; count <= most; count += 1) send(kube, urgent);
        await clock.settle();
        expect(server.waiting).toBe(most);
      }),
      { numRuns: 200 },
    );
  });
});
