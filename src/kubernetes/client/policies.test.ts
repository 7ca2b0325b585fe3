import { getEventListeners } from 'node:events';
import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
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

  it('rule 3: an incomplete response, a refused connection and an abort are not retried', async () => {
    const { kube, server } = await overHttp((request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('x', () => request.socket.destroy());
    });
    await expect(kube.request(get).then(drain)).rejects.toMatchObject({ code: 'ConnectionError' });
    expect(server.stats().requests).toBe(1);

    let tries = 0;
    const scripted = (error: ApiError): Kube =>
      retryOnReset({
        request: () => {
          tries += 1;
          return Promise.reject(error);
        },
      });
    const refused = new ApiError({
      code: 'ConnectionError',
      message: '',
      cause: { code: 'ECONNREFUSED', phase: 'connecting' },
    });
    await expect(scripted(refused).request(get)).rejects.toBe(refused);
    const late = new ApiError({ code: 'Timeout', message: '' });
    await expect(scripted(late).request(get)).rejects.toBe(late);
    const reset = new ApiError({
      code: 'ConnectionError',
      message: '',
      cause: { code: 'ECONNRESET', phase: 'waiting for the answer' },
    });
    await expect(scripted(reset).request({ ...get, signal: AbortSignal.abort() })).rejects.toBe(reset);
    expect(tries).toBe(3);
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

describe('rule 8: credentials', () => {
  const rotating = (tokens: readonly string[]): Credentials & { readonly reloads: () => number } => {
    let index = 0;
    return {
      authorization: async () => bearer(tokens[index] ?? ''),
      reload: () => {
        index += 1;
        return index < tokens.length;
      },
      reloads: () => index,
    };
  };

  const server = (valid: string): Kube & { readonly seen: string[]; readonly abandoned: () => number } => {
    const seen: string[] = [];
    let abandoned = 0;
    return {
      seen,
      abandoned: () => abandoned,
      request: async (request) => {
        const authorization = request.headers?.authorization ?? 'none';
        seen.push(authorization);
        const body = {
          [Symbol.asyncIterator]: () => ({
            next: async () => ({ done: true as const, value: undefined }),
            return: async () => {
              abandoned += 1;
              return { done: true as const, value: undefined };
            },
          }),
        };
        return { status: authorization === `Bearer ${valid}` ? 200 : 401, headers: {}, body };
      },
    };
  };

  it('rule 8: after a 401 the credential is reloaded and the request is sent once more', async () => {
    const kube = server('new');
    const response = await withCredentials(kube, rotating(['old', 'new'])).request({
      ...get,
      headers: { accept: 'x' },
    });
    expect(response.status).toBe(200);
    expect(kube.seen).toEqual(['Bearer old', 'Bearer new']);
    expect(kube.abandoned()).toBe(1);
  });

  it('rule 8: a second 401 is not retried', async () => {
    const kube = server('right');
    const response = await withCredentials(kube, rotating(['a', 'b', 'c', 'right'])).request(get);
    expect(response.status).toBe(401);
    expect(kube.seen).toEqual(['Bearer a', 'Bearer b']);
  });

  it('rule 8: a 401 is not retried with credentials that cannot change', async () => {
    const kube = server('right');
    expect((await withCredentials(kube, staticCredentials(bearer('wrong'))).request(get)).status).toBe(401);
    expect((await withCredentials(kube, staticCredentials(undefined)).request(get)).status).toBe(401);
    expect(kube.seen).toEqual(['Bearer wrong', 'none']);
  });
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
