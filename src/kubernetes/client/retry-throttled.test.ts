import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { outcomeOf } from '../../../test/doubles/outcome.ts';
import { type ScriptedKube, createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { ApiError } from '../api/errors.ts';
import type { KubeRequest, KubeResponse } from '../api/kube.ts';
import { retryThrottled } from './retry-throttled.ts';

let clock: VirtualClock;
let server: ScriptedKube;
beforeEach(() => {
  clock = createVirtualClock();
  server = createScriptedKube();
});

const read = async ({ status, body }: KubeResponse) => ({ status, text: await text(body) });

/** Sends a request and reads its response; `outcome()` is undefined until both are done. */
const send = (request: Partial<KubeRequest> = {}) => {
  const whole = {
    method: 'GET',
    path: '/x',
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    ...request,
  } as const;
  return outcomeOf(retryThrottled(server, clock).request(whole).then(read));
};

const refuse = async (status: number, retryAfter: string | null): Promise<void> => {
  server.take().respond(status, 'busy', retryAfter === null ? {} : { 'retry-after': retryAfter });
  await clock.settle();
};

const cases = [
  { status: 429, request: {}, retried: true },
  { status: 429, request: { method: 'POST' }, retried: true },
  { status: 503, request: {}, retried: true },
  { status: 503, request: { method: 'POST' }, retried: false },
  { status: 503, request: { method: 'PATCH', repeatable: false }, retried: false },
  { status: 503, request: { method: 'PATCH', repeatable: true }, retried: true },
  { status: 200, request: {}, retried: false },
  { status: 403, request: {}, retried: false },
  { status: 429, request: { noRetry: true }, retried: false },
  { status: 503, request: { noRetry: true }, retried: false },
  { status: 429, request: {}, retryAfter: null, retried: false },
  { status: 500, request: {}, retryAfter: null, retried: false },
  // A wait is no longer than a minute.
  { status: 429, request: { timeoutMs: 1e12 }, retryAfter: '999999999', retried: true },
] as const;

it.each(cases)(
  'rule 2: $status with Retry-After $retryAfter on $request: $retried',
  async ({ status, request, retried, ...rest }) => {
    const outcome = send(request);
    await refuse(status, 'retryAfter' in rest ? rest.retryAfter : '1');
    expect(outcome()).toEqual(retried ? undefined : { status, text: 'busy' });
    await clock.advance(60_000);
    expect(server.requests).toHaveLength(retried ? 2 : 1);
    if (retried) {
      server.take().respond(200, 'fine');
      await clock.settle();
      expect(outcome()).toEqual({ status: 200, text: 'fine' });
    }
    expect([server.openBodies, clock.pending]).toEqual([0, 0]);
  },
);

it('rule 2: a wait before a retry occurs five times, then the last response is returned', async () => {
  const outcome = send();
  for (let count = 0; count < 6; count += 1) {
    expect(outcome()).toBeUndefined();
    await refuse(429, '1');
    await clock.advance(1_000);
  }
  expect(outcome()).toEqual({ status: 429, text: 'busy' });
  expect(server.requests).toHaveLength(6);
  expect([server.openBodies, clock.pending]).toEqual([0, 0]);
});

describe('rule 2: the deadline covers waits and attempts', () => {
  it('rule 2: each wait is as long as requested, no request is sent after the deadline, and each gets the rest of the time', async () => {
    const waits = fc.array(fc.record({ answerMs: fc.nat(3_000), retryAfter: fc.nat(4) }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12_000 }), waits, async (timeoutMs, answers) => {
        clock = createVirtualClock();
        server = createScriptedKube();
        const outcome = send({ timeoutMs });
        const sentAt: number[] = [];
        for (const { answerMs, retryAfter } of answers) {
          await clock.settle();
          if (server.waiting === 0) break;
          sentAt.push(clock.monotonic());
          const left = timeoutMs - clock.monotonic();
          expect(server.requests.at(-1)?.timeoutMs).toBe(left);
          if (answerMs >= left) break;
          await clock.advance(answerMs);
          await refuse(429, String(retryAfter));
          await clock.advance(retryAfter * 1_000);
        }
        expect(Math.max(0, ...sentAt)).toBeLessThan(timeoutMs);
        expect(server.requests.length).toBeLessThanOrEqual(6);
        expect(outcome() === undefined).toBe(server.waiting === 1);
      }),
      { numRuns: 200 },
    );
  });

  it('rule 2: a refusal whose body does not end is a Timeout', async () => {
    const outcome = send({ timeoutMs: 2_000 });
    const body = server.take().stream(429, { 'retry-after': '1' });
    await clock.advance(2_000);
    expect([server.openBodies, outcome()]).toEqual([1, undefined]);
    body.fail(new ApiError({ code: 'Timeout', message: 'no response within 2000 ms' }));
    await clock.settle();
    expect(outcome()).toMatchObject({
      error: { code: 'Timeout', message: expect.stringContaining('429') as unknown },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('rule 2: without a deadline, as for a watch, the body is not read at all', async () => {
    send({ timeoutMs: undefined });
    server.take().stream(429, { 'retry-after': '1' });
    await clock.advance(999);
    expect([server.openBodies, server.requests.length]).toEqual([0, 1]);
    await clock.advance(1);
    expect(server.requests).toHaveLength(2);
  });
});

it('rule 4: an abort ends it at once while it waits to retry', async () => {
  const controller = new AbortController();
  const outcome = send({ signal: controller.signal });
  await refuse(429, '10');
  await clock.advance(5_000);
  controller.abort(new Error('enough'));
  await clock.settle();
  expect(outcome()).toMatchObject({ error: { message: 'enough' } });
  expect([server.requests.length, server.openBodies, clock.pending]).toEqual([1, 0, 0]);
});

it('rule 2: a retry that fails in another way mentions the response before it, and keeps its own cause', async () => {
  const outcome = send();
  await refuse(503, '1');
  await clock.advance(1_000);
  const cause = { code: 'ECONNRESET', phase: 'waiting for the answer' };
  server.take().fail(new ApiError({ code: 'ConnectionError', message: 'GET /x: reset', cause }));
  await clock.settle();
  const { error } = outcome() as { readonly error: ApiError };
  expect(error).toMatchObject({ code: 'ConnectionError', cause });
  expect(error.message).toMatch(/^GET \/x: reset \(.*503.*\)$/);
});
