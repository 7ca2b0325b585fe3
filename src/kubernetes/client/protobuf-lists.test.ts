import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { listNodeLeaseExpiries } from '../../care/observe/shoot.ts';
import { decodeNode, decodeNodeHealth, listNodeHealth, listNodes } from '../../gardener/node.ts';
import { withoutProtobuf } from '../../../test/doubles/protobuf.ts';
import type { Call } from '../api/call.ts';
import { decodeList } from '../api/decode.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { decodeLease, listNodeLeases } from '../api/lease.ts';
import { createKubeClient } from './client.ts';

/** Responses of a real kube-apiserver, recorded by the end-to-end test of the same name. */
const fixture = (name: string): Uint8Array => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const jsonFixture = (name: string): unknown => JSON.parse(Buffer.from(fixture(name)).toString('utf8'));

const protobuf = 'application/vnd.kubernetes.protobuf';
const { signal } = new AbortController();

interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly bytes: Uint8Array;
  /** Maximum size of one chunk in bytes. */
  readonly chunk?: number;
}

const serve = ({ status = 200, type = protobuf, bytes, chunk = 1_000 }: Reply): Kube & { requests: KubeRequest[] } => {
  const requests: KubeRequest[] = [];
  const body = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  };
  return {
    requests,
    request: async (request) => {
      requests.push(request);
      return { status, headers: { 'content-type': type }, body: body() };
    },
  };
};

const call = async <T>(asked: Call<T>, reply: Reply): Promise<T> =>
  (await createKubeClient({ kube: serve(reply), clock: createVirtualClock() }).call(asked, { signal })).value;

const lists = [
  ['nodes', listNodes, decodeList(decodeNode)],
  ['leases', listNodeLeases, decodeList(decodeLease)],
  ['nodes', listNodeHealth, decodeList(decodeNodeHealth)],
  ['leases', listNodeLeaseExpiries, decodeList(decodeLease)],
] as readonly (readonly [string, Call<readonly object[]>, (json: unknown) => readonly object[]])[];

describe('rule 11: responses of a real server', () => {
  it.each(lists)('rule 11: %s as protobuf and as JSON are the same', async (name, list, decode) => {
    const expected = decode(jsonFixture(`${name}.json`));
    expect(expected.length).toBeGreaterThan(5);
    expect(await call(list, { bytes: fixture(`${name}.pb`) })).toEqual(expected);
    expect(await call(list, { bytes: fixture(`${name}.pb`), chunk: 1 })).toEqual(expected);
    expect(await call(list, { bytes: fixture(`${name}.json`), type: 'application/json' })).toEqual(expected);
  });

  it.each(['not-found', 'bad-request', 'too-large-version'])('rule 11: so are errors: %s', async (name) => {
    const status = (jsonFixture(`${name}.json`) as { readonly code: number }).code;
    const fail = async (extension: string, type: string): Promise<ApiError> =>
      (await call(listNodes, { status, bytes: fixture(`${name}.${extension}`), type }).catch(
        (error: unknown) => error,
      )) as ApiError;
    const [fromProtobuf, fromJson] = [await fail('pb', protobuf), await fail('json', 'application/json')];
    const comparable = ({ code, status: http, retryAfterMs, message }: ApiError) => {
      return { code, http, retryAfterMs, message: message.replace(/current: \d+/, 'current: N') };
    };
    expect(comparable(fromProtobuf)).toEqual(comparable(fromJson));
    expect(fromProtobuf.message).not.toContain('gave no reason');
  });
});

describe('rule 11: content types', () => {
  it('rule 11: the Accept header has protobuf, if the call can read it, before JSON', async () => {
    const kube = serve({ bytes: fixture('nodes.pb') });
    const client = createKubeClient({ kube, clock: createVirtualClock() });
    await client.call(listNodes, { signal });
    await client.call(withoutProtobuf(listNodes), { signal }).catch(() => undefined);
    expect(kube.requests.map(({ headers }) => headers?.accept)).toEqual([
      'application/vnd.kubernetes.protobuf,application/json',
      'application/json',
    ]);
  });

  it.each([`${protobuf};charset=utf-8`, `${protobuf} ; q=1`, protobuf.toUpperCase()])(
    'rule 11: %s is protobuf',
    async (type) => {
      expect(await call(listNodes, { bytes: fixture('nodes.pb'), type })).not.toHaveLength(0);
    },
  );

  it.each([
    ['protobuf that was not requested', withoutProtobuf(listNodes), protobuf, 'nodes.pb', 'was not requested'],
    ['protobuf with the content type JSON', listNodes, 'application/json', 'nodes.pb', 'not JSON'],
    ['JSON with the content type protobuf', listNodes, protobuf, 'nodes.json', 'not a Kubernetes message'],
    ['an error with the HTTP code of a success', listNodes, protobuf, 'not-found.pb', 'expected NodeList of v1'],
  ] as const)('rule 11: %s is a MalformedResponse', async (_, asked, type, name, problem) => {
    await expect(call<unknown>(asked, { bytes: fixture(name), type })).rejects.toMatchObject({
      code: 'MalformedResponse',
      message: expect.stringContaining(problem) as unknown,
    });
  });

  it.each([
    ['broken protobuf', fixture('not-found.pb').subarray(0, 40)],
    ['another kind', fixture('nodes.pb')],
  ])('rule 11: an error whose body is %s is classified by its HTTP code', async (_, bytes) => {
    await expect(call(listNodes, { status: 404, bytes })).rejects.toMatchObject({ code: 'NotFound', status: 404 });
  });
});

describe('rule 11: broken bytes', () => {
  /** Returns true for a value and for an ApiError. */
  const isHandled = async (asked: Call<unknown>, reply: Reply): Promise<boolean> => {
    try {
      await call(asked, reply);
      return true;
    } catch (error) {
      return error instanceof ApiError;
    }
  };

  it.each(lists)('rule 11: %s cut off anywhere are a MalformedResponse', async (name, list) => {
    const bytes = fixture(`${name}.pb`);
    for (let length = 0; length < bytes.length - 4; length += 31) {
      await expect(call(list, { bytes: bytes.subarray(0, length) })).rejects.toMatchObject({
        code: 'MalformedResponse',
      });
    }
  });

  const edit = fc.record({
    at: fc.nat(),
    byte: fc.integer({ min: 0, max: 255 }),
    how: fc.constantFrom('set', 'cut', 'add'),
  });

  it.each(lists)('rule 11: %s with any bytes changed are a value or a MalformedResponse', async (name, list) => {
    const bytes = fixture(`${name}.pb`);
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 5 }), fc.boolean(), async (edits, early) => {
        const broken = [...bytes];
        for (const { at, byte, how } of edits) {
          const place = at % (early ? 200 : broken.length);
          if (how === 'set') broken[place] = byte;
          else if (how === 'cut') broken.splice(place, 1);
          else broken.splice(place, 0, byte);
        }
        expect(await isHandled(list, { bytes: Uint8Array.from(broken) })).toBe(true);
        expect(await isHandled(list, { status: 500, bytes: Uint8Array.from(broken) })).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
