import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { type ScriptedKube, createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import type { Call } from '../api/call.ts';
import { decodeObject, decodeString } from '../api/decode.ts';
import { ApiError } from '../api/errors.ts';
import type { KubeClient } from '../api/kube.ts';
import { createKubeClient } from './client.ts';

const createBench = (objectBytes?: number): { readonly kube: ScriptedKube; readonly client: KubeClient } => {
  const kube = createScriptedKube();
  return { kube, client: createKubeClient({ kube, clock: createVirtualClock(), objectBytes }) };
};

const { signal } = new AbortController();

const readName: Call<string> = {
  method: 'GET',
  path: '/api/v1/nodes/n',
  decode: (json) => decodeString(decodeObject(json, 'node').name, 'node.name'),
};

const fail = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

interface Refusal {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: Call<unknown>['method'];
}

const failWith = async (
  status: number,
  body: unknown,
  { headers = {}, method = 'GET' }: Refusal = {},
): Promise<ApiError> => {
  const { kube, client } = createBench();
  const failed = fail(client.call({ ...readName, method }, { signal }));
  kube.take().respond(status, body, headers);
  const error = await failed;
  expect(kube.openBodies).toBe(0);
  return error;
};

const statusBody = (fields: Readonly<Record<string, unknown>>): unknown => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  ...fields,
});

describe('calls', () => {
  it('sends the call and decodes the response', async () => {
    const { kube, client } = createBench();
    const answer = client.call(
      {
        method: 'PATCH',
        path: '/p',
        query: { dryRun: 'All' },
        contentType: 'application/json-patch+json',
        body: [{ op: 'test' }],
        repeatable: true,
        decode: (json) => json,
      },
      { signal, timeoutMs: 5_000 },
    );
    const exchange = kube.take();
    expect(exchange.request).toMatchObject({
      method: 'PATCH',
      path: '/p',
      query: { dryRun: 'All' },
      headers: { accept: 'application/json', 'content-type': 'application/json-patch+json' },
      body: '[{"op":"test"}]',
      repeatable: true,
      timeoutMs: 5_000,
      signal,
    });
    exchange.respond(200, { a: 'ä€😀' }, { date: 'Thu, 01 Jan 2026 00:00:07 GMT' });
    expect(await answer).toMatchObject({ value: { a: 'ä€😀' }, date: Date.UTC(2026, 0, 1, 0, 0, 7) });
  });

  it('returns the monotonic times of sending and of the complete response', async () => {
    const kube = createScriptedKube();
    const clock = createVirtualClock();
    const client = createKubeClient({ kube, clock });
    await clock.advance(100);
    const answer = client.call(readName, { signal });
    await clock.advance(20);
    const stream = kube.take().stream();
    stream.send('{"name":');
    await clock.advance(30);
    stream.send('"n"}');
    stream.end();
    const { sentAt, receivedAt, date, value } = await answer;
    expect({ sentAt, receivedAt, date, value }).toEqual({ sentAt: 100, receivedAt: 150, date: undefined, value: 'n' });
  });
});

describe('rule 7: typed errors', () => {
  const byReason = [
    ['NotFound', 404, 'NotFound', 'give-up'],
    ['AlreadyExists', 409, 'AlreadyExists', 'reread'],
    ['Expired', 410, 'Expired', 'reread'],
    ['TooManyRequests', 429, 'TooManyRequests', 'wait'],
    ['Timeout', 504, 'Timeout', 'retry'],
    ['InternalError', 500, 'ServerError', 'retry'],
  ] as const;

  it.each(byReason)('rule 7: reason %s (%d) is %s: %s', async (reason, status, code, handling) => {
    const error = await failWith(status, statusBody({ reason, code: status, message: 'the words' }));
    expect(error).toMatchObject({ code, handling, status });
    expect(error.message).toBe(`GET /api/v1/nodes/n: ${status} ${code}: the words`);
    // The reason takes precedence over a different code.
    expect((await failWith(418, statusBody({ reason }))).code).toBe(code);
  });

  const byCode = [
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [409, 'Conflict'],
    [410, 'Expired'],
    [418, 'Rejected'],
    [429, 'TooManyRequests'],
    [500, 'ServerError'],
    [504, 'Timeout'],
    [302, 'Rejected'],
    [199, 'Rejected'],
  ] as const;

  it.each(byCode)('rule 7: without a Status, code %d is %s', async (status, code) => {
    for (const body of ['', 'upstream connect error', '<html>', '[1]', 'null', { kind: 'Pod', reason: 'NotFound' }]) {
      expect(await failWith(status, body)).toMatchObject({ code, status });
    }
  });

  it('rule 7: a 409 to a POST without a Status means that the name is taken', async () => {
    expect((await failWith(409, '', { method: 'POST' })).code).toBe('AlreadyExists');
    expect((await failWith(409, statusBody({ reason: 'Conflict' }), { method: 'POST' })).code).toBe('Conflict');
  });

  it('rule 7: reports that redirects are not followed', async () => {
    expect((await failWith(307, '')).message).toMatch(/redirects are not followed/);
  });

  it.each([
    [{ reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }, 'Expired'],
    [{ reason: 'Timeout', details: { causes: [{ message: 'Too large resource version' }] } }, 'Expired'],
    [{ reason: 'Timeout', message: 'Too large resource version: 9, current: 1' }, 'Expired'],
    [{ reason: 'Timeout', details: { causes: 'none' } }, 'Timeout'],
    [{ reason: 'InternalError', message: 'Too large resource version' }, 'ServerError'],
  ])('rule 14: %j is %s', async (fields, code) => {
    expect((await failWith(504, statusBody(fields))).code).toBe(code);
  });

  it.each([
    ['7', {}, 7_000],
    ['0', {}, 0],
    [undefined, { retryAfterSeconds: 4 }, 4_000],
    ['2', { retryAfterSeconds: 4 }, 2_000],
    ['61', {}, 60_000],
    ['9'.repeat(400), {}, 60_000],
    [undefined, { retryAfterSeconds: 999_999_999 }, 60_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', {}, undefined],
    ['1e3', {}, undefined],
    ['', {}, undefined],
    ['-5', {}, undefined],
    [undefined, { retryAfterSeconds: 'x' }, undefined],
    [undefined, { retryAfterSeconds: -3 }, undefined],
    [undefined, {}, undefined],
  ])('rule 2: Retry-After %j with details %j is %j ms', async (header, details, expected) => {
    const headers: Readonly<Record<string, string>> = header === undefined ? {} : { 'retry-after': header };
    const error = await failWith(429, statusBody({ reason: 'TooManyRequests', details }), { headers });
    expect(error.retryAfterMs).toBe(expected);
  });

  it.each(Object.getOwnPropertyNames(Object.prototype))(
    'rule 31: %s is treated as an unknown reason',
    async (reason) => {
      const { code, handling } = await failWith(404, statusBody({ reason }));
      expect({ code, handling }).toEqual({ code: 'NotFound', handling: 'give-up' });
    },
  );

  it('rule 7: keeps the message to one line of bounded length', async () => {
    const error = await failWith(500, statusBody({ message: `a\n\tb ${'x'.repeat(10_000)}` }));
    expect(error.message).toMatch(/: a b x+\.\.\.$/);
    expect(error.message.length).toBeLessThan(1_200);
  });
});

describe('rule 11a: bounded responses', () => {
  it('rule 11a: a response of exactly the limit is accepted', async () => {
    const body = '{"name":"n"}';
    const { kube, client } = createBench(body.length);
    const answer = client.call(readName, { signal });
    kube.take().respond(200, body);
    expect((await answer).value).toBe('n');
  });

  it.each(['{"password":"geheim"', '<html>geheim</html>', '', 'geheim'])(
    '%j is malformed and is not quoted',
    async (body) => {
      const error = await failWith(200, body);
      expect(error.code).toBe('MalformedResponse');
      expect(error.message).toBe('GET /api/v1/nodes/n: the answer is not JSON');
      expect(error.cause).toBeUndefined();
    },
  );

  it.each([
    [200, 'ok'],
    [204, ''],
    [200, '[+]ping ok'],
  ])('a %j response that is not JSON is read as text if the call has a `text` reader: %j', async (status, body) => {
    const { kube, client } = createBench();
    const read: Call<string> = { ...readName, text: (text, code) => `${String(code)} ${text}` };
    const answer = client.call(read, { signal });
    kube.take().respond(status, body);
    expect((await answer).value).toBe(`${String(status)} ${body}`);
  });

  it('a wrong shape is malformed, and the error names the field', async () => {
    expect((await failWith(200, { name: 5 })).message).toBe(
      'GET /api/v1/nodes/n: node.name: expected a string, found a number',
    );
  });

  it("a decoder's own exception is a bug, not a malformed response", async () => {
    const { kube, client } = createBench();
    const bug = new TypeError('bug');
    const answer = client.call(
      {
        ...readName,
        decode: () => {
          throw bug;
        },
      },
      { signal },
    );
    kube.take().respond(200, {});
    await expect(answer).rejects.toBe(bug);
  });
});
