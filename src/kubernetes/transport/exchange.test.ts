import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { transportTo } from '../../../test/doubles/transport.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { startTcpServer } from '../../../test/doubles/test-server.ts';
import { getVersion } from '../../gardener/shoot-calls.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Call } from '../api/call.ts';
import { ApiError } from '../api/errors.ts';
import { listNodeLeases } from '../api/lease.ts';
import { leaseListBounds, listCall } from '../api/list-call.ts';
import { createKubeClient } from '../client/client.ts';

/** A clock on real time, as sockets need it. */
const clock: Clock = {
  ...createVirtualClock(),
  monotonic: () => performance.now(),
  timer: (ms, callback) => {
    const timeout = setTimeout(callback, ms);
    return () => clearTimeout(timeout);
  },
};

const mebibyte = 1024 * 1024;
const ok = 'HTTP/1.1 200 OK\r\n';
const list = '{"kind":"LeaseList","metadata":{},"items":[]}';

/** Sends `head`, then `piece` forever, as fast as the peer reads; counts the bytes that the kernel accepted. */
const pourer = (head: string, piece: string) => {
  const poured = { bytes: 0, closed: 0 };
  const block = Buffer.from(piece.repeat(Math.ceil(16_384 / piece.length)));
  const accept = (socket: Socket): void => {
    let isOpen = true;
    socket.once('close', () => {
      isOpen = false;
      poured.closed += 1;
    });
    const pour = (): void => {
      while (isOpen && poured.bytes < 256 * mebibyte) {
        poured.bytes += block.length;
        if (!socket.write(block)) return;
      }
      socket.end();
    };
    socket.on('drain', pour);
    socket.once('data', () => {
      socket.write(head);
      pour();
    });
  };
  return { accept, poured };
};

const callTo = async (accept: (socket: Socket) => void, call: Call<unknown>): Promise<ApiError> => {
  const server = await startTcpServer(accept);
  const transport = transportTo(server, { clock });
  const client = createKubeClient({ kube: transport, clock, objectBytes: 262_144 });
  const { signal } = new AbortController();
  const error = await client.call(call, { signal, timeoutMs: 60_000 }).then(
    () => expect.unreachable('it was answered'),
    (thrown: unknown) => thrown as ApiError,
  );
  await server.idle();
  return error;
};

const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
const cases: readonly (readonly [string, Call<unknown>, string, string, string])[] = [
  ['interim responses', getVersion, '', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'MalformedResponse'],
  ['empty lines', getVersion, '', '\r\n', 'MalformedResponse'],
  ['headers', getVersion, ok, 'a: b\r\n', 'ConnectionError'],
  ['one header', getVersion, `${ok}a: `, 'b', 'ConnectionError'],
  ['chunks of one byte', listNodeLeases, chunked, '1\r\n \r\n', 'MalformedResponse'],
  ['the extension of a chunk', listNodeLeases, `${chunked}1;a=`, 'b', 'MalformedResponse'],
  ['extensions of chunks', listNodeLeases, chunked, `1;a=${'b'.repeat(16_000)}\r\n \r\n`, 'MalformedResponse'],
  [
    'trailers',
    listNodeLeases,
    `${chunked}${list.length.toString(16)}\r\n${list}\r\n0\r\n`,
    'a: b\r\n',
    'ConnectionError',
  ],
];

describe('rule 11a: a response on the wire', () => {
  it.each(cases)(
    'rule 11a: %s without end: the connection is closed after little data',
    async (_, call, head, piece, code) => {
      const { accept, poured } = pourer(head, piece);
      const error = await callTo(accept, call);
      expect(error).toBeInstanceOf(ApiError);
      expect(error.code).toBe(code);
      expect(poured.closed).toBe(1);
      // We read about 64 KiB; the rest is in the buffers of the kernel.
      expect(poured.bytes).toBeLessThan(16 * mebibyte);
    },
  );

  it('rule 11a: other work gets its turn while a long body is read', async () => {
    const item = `{"metadata":{"name":"a"},"x":"${'x'.repeat(1_024)}"},`;
    let [sinceTurn, most, isOver] = [0, 0, false];
    const turn = (): void => {
      sinceTurn = 0;
      if (!isOver) setImmediate(turn);
    };
    const decode = (): void => {
      sinceTurn += item.length;
      most = Math.max(most, sinceTurn);
    };
    turn();
    const { accept } = pourer(`${ok}\r\n{"items":[`, item);
    const error = await callTo(accept, listCall({ path: '/a', decode, bounds: leaseListBounds }));
    isOver = true;
    expect(error.message).toContain('larger than 4194304 bytes');
    // A turn is 64 KiB, and a read of the socket may be twice as long.
    expect(most).toBeLessThanOrEqual(192 * 1_024);
  });
});
