import { getEventListeners } from 'node:events';
import type { RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { transportTo } from '../../../test/doubles/transport.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { type TestServer, startTestServer } from '../../../test/doubles/test-server.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../api/kube.ts';
import { type Credentials, bearer, staticCredentials, withCredentials } from './auth.ts';
import { createKubeClient } from './client.ts';
import { retryOnReset } from './retry-on-reset.ts';
import { logWarnings, parseWarnings } from './warnings.ts';

const { signal } = new AbortController();
const get: KubeRequest = { method: 'GET', path: '/', signal, timeoutMs: 1_000 };

const drain = async ({ body }: KubeResponse): Promise<void> => {
  for await (const _chunk of body);
};

const overHttp = async (handler: RequestListener): Promise<{ readonly kube: Kube; readonly server: TestServer }> => {
  const server = await startTestServer({ handler });
  const transport = transportTo(server);
  return { kube: retryOnReset(transport), server };
};

describe('rule 3: a connection that breaks before the response', () => {
  const methods = [
    { method: 'GET', repeatable: undefined, tries: 2 },
    { method: 'PATCH', repeatable: undefined, tries: 1 },
    { method: 'PATCH', repeatable: true, tries: 2 },
    { method: 'POST', repeatable: undefined, tries: 1 },
    { method: 'DELETE', repeatable: true, tries: 2 },
  ] as const;

  it.each(methods)(
    'rule 3: $method, repeatable $repeatable: $tries tries at most',
    async ({ method, repeatable, tries }) => {
      const { kube, server } = await overHttp((request) => request.socket.destroy());
      const request = { ...get, method, ...(repeatable === undefined ? {} : { repeatable }) };
      await expect(kube.request(request)).rejects.toMatchObject({
        code: 'ConnectionError',
        cause: { code: 'ECONNRESET' },
      });
      expect(server.stats()).toMatchObject({ requests: tries, connections: tries });
    },
  );

  it('rule 3: the retry uses a new connection, even if there are other idle ones', async () => {
    const held: (() => void)[] = [];
    const { kube, server } = await overHttp((request, response) => {
      if (request.url === '/hold') {
        held.push(() => response.end());
        if (held.length === 3) for (const release of held) release();
        return;
      }
      // All idle connections are stale, as after a restart of the server.
      if (server.stats().connections <= 3) request.socket.destroy();
      else response.end();
    });
    await Promise.all([1, 2, 3].map(async () => drain(await kube.request({ ...get, path: '/hold' }))));
    const response = await kube.request(get);
    expect(response.status).toBe(200);
    await drain(response);
    expect(server.stats()).toMatchObject({ requests: 5, connections: 4, openConnections: 1 });
  });

  it('rule 3: an incomplete response is not requested again', async () => {
    const { kube, server } = await overHttp((request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('x', () => request.socket.destroy());
    });
    await expect(kube.request(get).then(drain)).rejects.toMatchObject({ code: 'ConnectionError' });
    expect(server.stats().requests).toBe(1);
  });

  it.each([
    ['a refused connection', { code: 'ECONNREFUSED', phase: 'connecting' }, signal],
    ['a timeout', { code: 'ETIMEDOUT', phase: 'waiting for the answer' }, signal],
    ['a reset after an abort', { code: 'ECONNRESET', phase: 'waiting for the answer' }, AbortSignal.abort()],
  ])('rule 3: %s is not retried', async (_, cause, sent) => {
    const error = new ApiError({ code: 'ConnectionError', message: '', cause });
    const request = vi.fn(() => Promise.reject(error));
    await expect(retryOnReset({ request }).request({ ...get, signal: sent })).rejects.toBe(error);
    expect(request).toHaveBeenCalledOnce();
  });
});

it('rule 5: a second attempt gets the rest of the time, and leaves no timers or listeners', async () => {
  const clock = createVirtualClock();
  const scripted = createScriptedKube();
  const kube = withCredentials(retryOnReset(scripted), { authorization: async () => 'x', reload: () => true });
  const abort = new AbortController();
  const call = { method: 'GET', path: '/', decode: (json: unknown) => json } as const;
  const outcome = createKubeClient({ kube, clock }).call(call, { timeoutMs: 10_000, signal: abort.signal });
  const failed = expect(outcome).rejects.toMatchObject({ code: 'Timeout', message: 'GET /: not done within 10000 ms' });
  await clock.advance(6_000);
  scripted.take().respond(401, '{}');
  await clock.advance(4_099);
  expect(scripted.waiting).toBe(1);
  await clock.advance(1);
  await failed;
  expect([scripted.waiting, scripted.openBodies, clock.pending]).toEqual([0, 0, 0]);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

/** Sends a request with these credentials, one after the other, to a server that takes only `valid`. */
const ask = async (credentials: Credentials, valid: string) => {
  const server = createScriptedKube();
  const response = withCredentials(server, credentials).request({ ...get, headers: { accept: 'x' } });
  const seen: string[] = [];
  await new Promise(setImmediate);
  while (server.waiting > 0) {
    const exchange = server.take();
    const { authorization = 'none' } = exchange.request.headers ?? {};
    seen.push(authorization);
    exchange.respond(authorization === `Bearer ${valid}` ? 200 : 401, '');
    await new Promise(setImmediate);
  }
  return { status: (await response).status, seen, openBodies: server.openBodies };
};

const rotating = (...tokens: string[]): Credentials => ({
  authorization: async () => bearer(tokens[0] ?? ''),
  reload: () => {
    tokens.shift();
    return tokens.length > 0;
  },
});

it.each([
  [
    'a 401 is followed by one with the reloaded credential',
    rotating('old', 'right'),
    200,
    ['Bearer old', 'Bearer right'],
  ],
  ['a second 401 is not retried', rotating('a', 'b', 'right'), 401, ['Bearer a', 'Bearer b']],
  ['a 401 is not retried with credentials that cannot change', staticCredentials(bearer('old')), 401, ['Bearer old']],
  ['a 401 is not retried without credentials', staticCredentials(undefined), 401, ['none']],
])('rule 8: %s', async (_, credentials, status, seen) => {
  const answer = await ask(credentials, 'right');
  expect(answer).toMatchObject({ status, openBodies: 1 });
  expect(answer.seen).toEqual(seen);
});

describe('rule 10: warnings', () => {
  it.each([
    ['299 - "v1beta1 is deprecated"', ['v1beta1 is deprecated']],
    ['299 kube "one, \\"two\\" \\\\ three", 299 - "four"', ['one, "two" \\ three', 'four']],
    ['199 - "other codes do not count"', []],
    ['299 - broken', []],
  ])('rule 10: parses %j', (header, texts) => {
    expect(parseWarnings(header)).toEqual(texts);
  });

  it('rule 10: logs each once, and at most 200', async () => {
    const scripted = createScriptedKube();
    const logger = createRecordingLogger();
    const kube = logWarnings(scripted, logger);
    const answerWith = async (warning: string): Promise<void> => {
      const answer = kube.request(get);
      scripted.take().respond(200, '{}', { warning });
      await drain(await answer);
    };
    await answerWith('299 - "a"');
    await answerWith('299 - "b", 299 - "a"');
    await answerWith('299 - "a"');
    expect(logger.lines.map((line) => line.fields.warning)).toEqual(['a', 'b']);
    for (let count = 0; count < 500; count += 1) await answerWith(`299 - "${count}"`);
    expect(logger.lines).toHaveLength(200);
  });
});
