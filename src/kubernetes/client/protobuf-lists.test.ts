import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { listNodeLeaseExpiries } from '../../care/observe/shoot.ts';
import { listNodeHealth, listNodes } from '../../gardener/node.ts';
import { envelope, message, withoutProtobuf } from '../../../test/doubles/protobuf.ts';
import { readReference } from '../../../test/reference-objects/fixture.ts';
import type { Call } from '../api/call.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { listNodeLeases } from '../api/lease.ts';
import { type ProtobufCursor, ProtobufListReader } from '../protobuf/index.ts';
import { createKubeClient } from './client.ts';

/** Returns a list of upstream's one object, as it is sent in both formats. Upstream's own list is the first page of several. */
const listOf = (kind: string) => {
  const { object, protobuf: bytes } = readReference(kind);
  const apiVersion = String(object.apiVersion);
  const items: Buffer[] = [];
  const item = (cursor: ProtobufCursor, end: number): void => {
    items.push(message(2, cursor.bytes.subarray(cursor.at, end)));
    cursor.at = end;
  };
  const reader = new ProtobufListReader({ apiVersion, kind, limitBytes: Infinity, fieldBytes: Infinity, item });
  reader.feed(bytes);
  reader.finish();
  return { json: JSON.stringify({ ...object, metadata: {} }), protobuf: envelope(apiVersion, kind, ...items) };
};

const reference = {
  NodeList: listOf('NodeList'),
  LeaseList: listOf('LeaseList'),
  Status: { json: JSON.stringify(readReference('Status').object), protobuf: readReference('Status').protobuf },
};
const protobufOf = (kind: keyof typeof reference): Uint8Array => reference[kind].protobuf;
const jsonOf = (kind: keyof typeof reference): Uint8Array => Buffer.from(reference[kind].json);

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
  ['NodeList', listNodes],
  ['LeaseList', listNodeLeases],
  ['NodeList', listNodeHealth],
  ['LeaseList', listNodeLeaseExpiries],
] as readonly (readonly ['NodeList' | 'LeaseList', Call<readonly object[]>])[];

describe('rule 11: responses in protobuf, wherever they are cut', () => {
  it.each(lists)('rule 11: %s has the items of its JSON', async (kind, list) => {
    const expected = await call(list, { bytes: jsonOf(kind), type: 'application/json' });
    expect(expected).toHaveLength(1);
    expect(await call(list, { bytes: protobufOf(kind), chunk: 1 })).toEqual(expected);
  });

  it('rule 11: an error is that of its JSON', async () => {
    const fail = async (bytes: Uint8Array, type: string): Promise<ApiError> =>
      (await call(listNodes, { status: 404, bytes, type }).catch((error: unknown) => error)) as ApiError;
    const error = await fail(protobufOf('Status'), protobuf);
    expect(error).toEqual(await fail(jsonOf('Status'), 'application/json'));
    expect(error.message).not.toContain('gave no reason');
  });
});

describe('rule 11: content types', () => {
  it('rule 11: the Accept header has protobuf, if the call can read it, before JSON', async () => {
    const kube = serve({ bytes: protobufOf('NodeList') });
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
      expect(await call(listNodes, { bytes: protobufOf('NodeList'), type })).not.toHaveLength(0);
    },
  );

  it.each([
    [
      'protobuf that was not requested',
      withoutProtobuf(listNodes),
      protobuf,
      protobufOf('NodeList'),
      'was not requested',
    ],
    ['protobuf with the content type JSON', listNodes, 'application/json', protobufOf('NodeList'), 'not JSON'],
    ['JSON with the content type protobuf', listNodes, protobuf, jsonOf('NodeList'), 'not a Kubernetes message'],
    ['an error with the HTTP code of a success', listNodes, protobuf, protobufOf('Status'), 'expected NodeList of v1'],
  ] as const)('rule 11: %s is a MalformedResponse', async (_, asked, type, bytes, problem) => {
    await expect(call<unknown>(asked, { bytes, type })).rejects.toMatchObject({
      code: 'MalformedResponse',
      message: expect.stringContaining(problem) as unknown,
    });
  });

  it.each([
    ['broken protobuf', protobufOf('Status').subarray(0, 40)],
    ['another kind', protobufOf('NodeList')],
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

  it.each(lists)('rule 11: %s cut off anywhere is a MalformedResponse', async (kind, list) => {
    const bytes = protobufOf(kind);
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

  it.each(lists)('rule 11: %s with any bytes changed is a value or a MalformedResponse', async (kind, list) => {
    const bytes = protobufOf(kind);
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
