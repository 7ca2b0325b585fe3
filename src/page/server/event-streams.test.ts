import { type Server, createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type EventStream, createEventStreams, messageOf } from './event-streams.ts';

const servers: { readonly server: Server; readonly stop: AbortController }[] = [];
afterEach(() => {
  for (const { server, stop } of servers.splice(0)) {
    stop.abort();
    server.close();
  }
});

/** Returns a reader of an event stream, and the server's end of the stream. */
const connect = async (monotonic: () => number = () => 0) => {
  const stop = new AbortController();
  let opened: EventStream | undefined;
  const open = createEventStreams(1, monotonic);
  const server = createServer((request, response) => {
    const stream = open({ request, response, signal: stop.signal, keepOpen: () => undefined });
    if (stream === undefined) response.writeHead(503).end();
    else opened = stream;
  }).listen(0, '127.0.0.1');
  servers.push({ server, stop });
  await new Promise((resolve) => server.once('listening', resolve));
  const get = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      request({ host: '127.0.0.1', port, agent: false }, resolve).on('error', reject).end();
    });
  const reader = await get();
  reader.on('error', () => undefined);
  if (opened === undefined) throw new Error('no stream was opened');
  return { stream: opened, reader, get, stop };
};

const mebibyte = messageOf('x', 'a'.repeat(1 << 20));

/** Sends messages until the reader, which reads nothing, leaves one unread. Returns the number of accepted messages. */
const fill = (stream: EventStream): number => {
  for (let taken = 0; taken < 100; taken += 1) if (!stream.send(mebibyte)) return taken;
  return 100;
};

describe('an event stream', () => {
  it('drops messages while the reader has not read an earlier one, and continues afterwards', async () => {
    const { stream, reader } = await connect();
    const taken = fill(stream);
    expect(taken).toBeLessThan(100);
    expect([stream.send(mebibyte), stream.send(mebibyte)]).toEqual([false, false]);
    let read = 0;
    for await (const chunk of reader as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read >= taken * mebibyte.length) break;
    }
    expect(read).toBeLessThan((taken + 1) * mebibyte.length);
  });

  it('ends when its reader reads nothing for ten seconds', async () => {
    let now = 0;
    const { stream } = await connect(() => now);
    fill(stream);
    const ended = new Promise<void>((resolve) => stream.onEnd(resolve));
    now = 10_001;
    stream.send(mebibyte);
    await ended;
    expect(stream.send(mebibyte)).toBe(false);
  });

  it('is refused if too many are open, until one of them ends', async () => {
    const { stream, reader, get } = await connect();
    const refused = await get();
    expect(refused.statusCode).toBe(503);
    refused.resume();
    const ended = new Promise<void>((resolve) => stream.onEnd(resolve));
    reader.destroy();
    await ended;
    expect((await get()).statusCode).toBe(200);
  });

  it('ends when the server stops', async () => {
    const { stream, stop } = await connect();
    const ended = new Promise<void>((resolve) => stream.onEnd(resolve));
    stop.abort();
    await ended;
  });
});
