import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PortStream } from './port-stream.ts';

/** A connection whose peer reads nothing. */
const unread = (): Duplex => new Duplex({ read: () => undefined, write: () => undefined });

it('answers pings only while the peer reads the answers', async () => {
  const socket = unread();
  const port = new PortStream(socket);
  const ping = Buffer.concat([Buffer.from([0x89, 125]), Buffer.alloc(125)]);
  socket.push(Buffer.concat(Array(10_000).fill(ping)));
  await turn();
  expect(socket.readableLength).toBe(0);
  expect(socket.writableLength).toBeGreaterThan(125);
  expect(socket.writableLength).toBeLessThan(socket.writableHighWaterMark + 200);
  port.destroy();
});
