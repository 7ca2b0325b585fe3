import { describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { listMachines } from '../../gardener/machine.ts';
import { listNodes } from '../../gardener/node.ts';
import { getVersion } from '../../gardener/shoot-calls.ts';
import { envelope, message, text } from '../../../test/doubles/protobuf.ts';
import type { Call } from '../api/call.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { listNodeLeases } from '../api/lease.ts';
import { BodyBudget } from './body-budget.ts';
import { createKubeClient } from './client.ts';

const [kib, mib] = [1024, 1024 * 1024];
const { signal } = new AbortController();

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Iterable<string | Uint8Array>;
}

/** Answers each request with the next reply, then always with the last one, and counts the bytes that were read of the bodies. */
const serve = (...replies: readonly ((request: KubeRequest) => Reply)[]) => {
  const requests: KubeRequest[] = [];
  const stats = { bytes: 0, left: 0 };
  const request: Kube['request'] = async (incoming) => {
    const reply = replies[Math.min(requests.length, replies.length - 1)]?.(incoming);
    requests.push(incoming);
    const read = async function* (): AsyncGenerator<Uint8Array> {
      let isWhole = false;
      try {
        for (const piece of reply?.body ?? []) {
          const chunk = Buffer.from(piece);
          stats.bytes += chunk.length;
          yield chunk;
        }
        isWhole = true;
      } finally {
        if (!isWhole) stats.left += 1;
      }
    };
    return { status: reply?.status ?? 200, headers: reply?.headers ?? {}, body: read() };
  };
  return { kube: { request }, requests, stats };
};

function* repeat(times: number, piece: string | Uint8Array): Generator<string | Uint8Array> {
  for (let count = 0; count < times; count += 1) yield piece;
}

function* joined(...parts: readonly Iterable<string | Uint8Array>[]): Generator<string | Uint8Array> {
  for (const part of parts) yield* part;
}

const chunk = 64 * kib;
const filler = 'x'.repeat(chunk);
const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' };
/** The head of a list whose declared length is 1 GB. */
const endless = (apiVersion: string, kind: string): Buffer =>
  Buffer.concat([
    ...[Buffer.from('k8s\0'), message(1, text(1, apiVersion), text(2, kind))],
    Buffer.from([0x12, 0x80, 0x80, 0x80, 0x80, 0x04]),
  ]);
const leaseItem = message(2, message(1, text(1, 'n')));
const jsonItems = (count: number): string => `{"items":[${Array(count).fill('{"metadata":{"name":"n"}}').join()}]}`;
const tinyItem = '{"metadata":{"name":"n"}},';

/** A server whose body begins at once; its next chunks arrive after `gapsMs` each, and the last one never does. */
const trickle = (clock: VirtualClock, gapsMs: readonly number[]) => {
  const sent: AbortSignal[] = [];
  const request: Kube['request'] = async (incoming) => {
    sent.push(incoming.signal);
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"items":[');
      for (const ms of [...gapsMs, Number.MAX_SAFE_INTEGER]) {
        await clock.sleep(ms, incoming.signal);
        yield Buffer.from(' ');
      }
    };
    return { status: 200, headers: {}, body: body() };
  };
  return { kube: { request }, sent };
};

const callOn = async <T>(server: { readonly kube: Kube }, call: Call<T>): Promise<T> => {
  const client = createKubeClient({ kube: server.kube, clock: createVirtualClock(), objectBytes: 256 * kib });
  return (await client.call(call, { signal })).value;
};

const problemOf = async (server: { readonly kube: Kube }, call: Call<unknown>): Promise<ApiError> =>
  callOn(server, call).then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error as ApiError,
  );

describe('rule 11a: the cost of one response', () => {
  const open = '{"items":[';
  const endlessLeases = endless('coordination.k8s.io/v1', 'LeaseList');
  const endlessNodes = endless('v1', 'NodeList');
  /** A body that goes on for a million pieces. */
  const json = (head: string, piece: string) => (): Reply => ({ body: joined([head], repeat(1e6, piece)) });
  const binary = (head: Uint8Array, piece: string | Uint8Array) => (): Reply => ({
    headers: protobuf,
    body: joined([head], repeat(1e6, piece)),
  });
  const itemOfAGigabyte = Buffer.concat([endlessLeases, Buffer.of(0x12, 0x80, 0x80, 0x80, 0x10)]);
  const conditions = Array.from({ length: 5_000 }, (_, index) =>
    message(4, text(1, `c${String(index)}`), text(2, 'True')),
  );
  const longItem = `{"metadata":{"name":"n"},"x":"${filler}"},`;

  const cases: readonly (readonly [string, Call<unknown>, () => Reply, string, number])[] = [
    ['16 MB for a version', getVersion, () => ({ body: repeat(250, filler) }), 'larger than 65536 bytes', 2 * chunk],
    ['leases without end', listNodeLeases, json(open, tinyItem.repeat(1_000)), 'more than 10000 items', mib],
    ['long leases', listNodeLeases, json(open, longItem), 'larger than 4194304 bytes', 5 * mib],
    [
      'leases in protobuf without end',
      listNodeLeases,
      binary(endlessLeases, Buffer.concat(Array(1_000).fill(leaseItem))),
      'more than 10000 items',
      mib,
    ],
    [
      'long leases in protobuf',
      listNodeLeases,
      binary(endlessLeases, message(2, message(1, text(1, 'n'), text(9, filler)))),
      'larger than 16777216 bytes',
      17 * mib,
    ],
    [
      'a lease in protobuf without end',
      listNodeLeases,
      binary(itemOfAGigabyte, filler),
      'a field of more than 262144',
      2 * chunk,
    ],
    [
      'nodes in protobuf with too many conditions',
      listNodes,
      binary(endlessNodes, message(2, message(1, text(1, 'n')), message(3, ...conditions))),
      'takes more than',
      12 * mib,
    ],
    [
      'compression',
      listNodeLeases,
      () => ({ headers: { 'content-encoding': 'gzip' }, body: repeat(1e6, filler) }),
      'compressed',
      0,
    ],
  ];

  it.each(cases)('rule 11a: %s is malformed, and is read no further', async (_, call, reply, problem, mostBytes) => {
    const server = serve(reply);
    const error = await problemOf(server, call);
    expect(error).toMatchObject({ code: 'MalformedResponse', message: expect.stringContaining(problem) as string });
    expect(server.stats.bytes).toBeLessThanOrEqual(mostBytes);
    expect(server.requests.every(({ signal: sent }) => sent.aborted)).toBe(true);
  });

  it.each([429, 503])(
    'rule 11a: an error (%i) with a long body is classified by its code, and is read no further',
    async (status) => {
      const server = serve(() => ({ status, body: repeat(1e6, filler) }));
      expect(await problemOf(server, listNodes)).toMatchObject({
        status,
        code: status === 429 ? 'TooManyRequests' : 'ServerError',
      });
      expect(server.stats).toEqual({ bytes: 2 * chunk, left: 1 });
    },
  );

  it.each(['', '<html>', '[]', `{"a":${'['.repeat(10_000)}`])(
    'rule 11a: only the status of /version counts: %.20s',
    async (body) => {
      const server = serve(() => ({ body: [body] }));
      await expect(callOn(server, getVersion)).resolves.toBeUndefined();
    },
  );

  it.each([
    ['at once', []],
    ['after pieces with almost 5 s between them', [1_400, 4_999, 100, 4_900, 4_999]],
  ])('rule 11a: a body that stops for 5 s, %s, is given up, and its connection is ended', async (_, gapsMs) => {
    const clock = createVirtualClock();
    const { kube, sent } = trickle(clock, gapsMs);
    const failed = createKubeClient({ kube, clock })
      .call(listNodeLeases, { signal })
      .catch((error: unknown) => error);
    for (const ms of gapsMs) await clock.advance(ms);
    await clock.advance(4_999);
    expect(sent[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(await failed).toMatchObject({
      code: 'Timeout',
      message: expect.stringContaining('no byte of it for 5000 ms') as string,
      cause: { phase: 'reading the answer' },
    });
    expect(sent[0]?.aborted).toBe(true);
  });
});

describe('rule 11a: responses that wait for our memory budget', () => {
  /** Other bodies hold the whole budget until `release`. */
  const fullBudget = () => {
    const budget = new BodyBudget(100 * kib);
    const others = budget.open();
    void others.resize(100 * kib, signal);
    return { budget, release: others.release };
  };

  const begin = (kube: Kube, timeoutMs: number) => {
    const clock = createVirtualClock();
    const { budget, release } = fullBudget();
    const answer = createKubeClient({ kube, clock, budget }).call(listNodeLeases, { signal, timeoutMs });
    return { clock, budget, release, done: answer.catch((error: unknown) => error as ApiError) };
  };

  it('rule 11a: they may wait until the timeout of their call', async () => {
    const leases = '{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}';
    const quick = serve(() => ({ body: [leases, ' '] }));
    const { clock, budget, release, done } = begin(quick.kube, 60_000);
    await clock.advance(60_099);
    // The first chunk has arrived, and the second one must wait.
    expect(quick.stats.bytes).toBe(leases.length);
    release();
    expect(await done).toMatchObject({ value: [{ name: 'a' }, { name: 'b' }] });
    expect(budget.taken()).toBe(0);
  });

  it('rule 11a: at the timeout of the call they fail, with an error that names our budget, and leave the line', async () => {
    const { clock, budget, release, done } = begin(serve(() => ({ body: [jsonItems(2)] })).kube, 8_000);
    await clock.advance(8_100);
    const error = (await done) as ApiError;
    expect(error).toMatchObject({
      code: 'Timeout',
      handling: 'retry',
      message: expect.stringMatching(/^GET \S+: .* waited 8100 ms for memory of ours: .* the 102400 bytes/) as string,
      cause: { code: 'ENOBUFS' },
    });
    release();
    expect(budget.taken()).toBe(0);
  });

  it("rule 11a: a timeout after such a wait is not reported as the server's fault", async () => {
    const late = new ApiError({ code: 'Timeout', message: 'no response within 5000 ms' });
    const request: Kube['request'] = async () => {
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from('{"items":[');
        throw late;
      };
      return { status: 200, headers: {}, body: body() };
    };
    const waited = begin({ request }, 5_000);
    await waited.clock.advance(4_999);
    waited.release();
    expect(await waited.done).toMatchObject({ cause: { code: 'ENOBUFS' } });
    const atOnce = begin({ request }, 5_000);
    atOnce.release();
    expect(await atOnce.done).toBe(late);
  });
});

describe('rule 11a: lists in pages', () => {
  const names = (from: number, count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => ({ metadata: { name: `n${String(from + index)}` } }));

  /** A server with `total` nodes of about `bytes` bytes each. */
  const nodesOf = (total: number, bytes = 0) =>
    serve(({ query = {} }) => {
      const from = Number(query.continue ?? 0);
      const count = Math.min(Number(query.limit), total - from);
      const items = names(from, count).map((node) => JSON.stringify({ ...node, x: 'x'.repeat(bytes) }));
      const next = from + count < total ? String(from + count) : '';
      return {
        body: [
          '{"items":[',
          ...items.map((item, index) => (index === 0 ? item : `,${item}`)),
          `],"metadata":{"continue":"${next}"}}`,
        ],
      };
    });

  it.each([
    [0, 1],
    [250, 1],
    [251, 2],
  ])('rule 11a: %i nodes take %i requests', async (total, requests) => {
    const server = nodesOf(total);
    const nodes = await callOn(server, listNodes);
    expect(new Set(nodes.map(({ name }) => name)).size).toBe(total);
    expect(nodes).toHaveLength(total);
    expect(server.requests).toHaveLength(requests);
  });

  it('rule 11a: pages that are too large are requested again in smaller ones', async () => {
    const server = nodesOf(600, 40 * kib);
    const nodes = await callOn(server, listNodes);
    expect(nodes.map(({ name }) => name)).toEqual(Array.from({ length: 600 }, (_, index) => `n${String(index)}`));
    expect(server.requests.map(({ query }) => query?.limit)).toEqual(['250', ...Array<string>(12).fill('50')]);
  });

  it('rule 11a: an expired page restarts the list, once', async () => {
    const page = { body: ['{"items":[{"metadata":{"name":"a"}}],"metadata":{"continue":"x"}}'] };
    const gone = { status: 410, body: ['{"kind":"Status","reason":"Expired"}'] };
    const last = { body: ['{"items":[{"metadata":{"name":"b"}}],"metadata":{}}'] };
    const server = serve(...[page, gone, page, last].map((reply) => () => reply));
    expect((await callOn(server, listNodes)).map(({ name }) => name)).toEqual(['a', 'b']);
    const hopeless = serve(...[page, gone, page, gone].map((reply) => () => reply));
    expect(await problemOf(hopeless, listNodes)).toMatchObject({ code: 'Expired' });
    expect(hopeless.requests).toHaveLength(4);
  });

  it.each([
    ['nothing in place of nodes', listNodes, '', 'a list of more than 10000', 40],
    ['nothing in place of machines', listMachines('a'), '', 'a list of more than 100000', 200],
  ] as const)('rule 11a: endless pages, of %s, are given up', async (_, call, item, problem, requests) => {
    let token = 0;
    const server = serve(() => ({ body: [`{"items":[${item}],"metadata":{"continue":"${String((token += 1))}"}}`] }));
    expect(await problemOf(server, call)).toMatchObject({
      code: 'MalformedResponse',
      message: expect.stringContaining(problem) as string,
    });
    expect(server.requests).toHaveLength(requests);
  });

  it('rule 19: a page whose next one is itself ends the list', async () => {
    const server = serve(() => ({ body: ['{"items":[],"metadata":{"continue":"x"}}'] }));
    expect((await problemOf(server, listNodes)).message).toContain('the token of the page just read');
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['JSON', () => ({ body: ['{"items":[{"metadata":{"name":"n"}}],"metadata":{"continue":"x"}}'] })],
    [
      'protobuf',
      () => {
        const list = Buffer.concat([message(1, text(3, 'x')), leaseItem]);
        return { headers: protobuf, body: [envelope('coordination.k8s.io/v1', 'LeaseList', list)] };
      },
    ],
  ])('rule 11a: a page of the leases, in %s, is not used as all of them', async (_, reply: () => Reply) => {
    const server = serve(reply);
    expect(await problemOf(server, listNodeLeases)).toMatchObject({
      code: 'MalformedResponse',
      message: expect.stringContaining('a `continue` token in a list that was requested without pages') as string,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('rule 11a: pages share the timeout of the call', async () => {
    const clock = createVirtualClock();
    let token = 0;
    const server = serve(() => ({ body: [`{"items":[],"metadata":{"continue":"${String((token += 1))}"}}`] }));
    const kube: Kube = {
      request: async (request) => {
        await clock.advance(1_000);
        return server.kube.request(request);
      },
    };
    await createKubeClient({ kube, clock })
      .call(listNodes, { signal, timeoutMs: 5_500 })
      .catch(() => undefined);
    expect(server.requests.slice(0, 7).map(({ timeoutMs }) => timeoutMs)).toEqual([
      5_500, 4_500, 3_500, 2_500, 1_500, 500, 1,
    ]);
  });
});
