import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type SwallowingProxy, startSwallowingProxy } from './swallowing-proxy.ts';

let echo: Server;
let proxy: SwallowingProxy;
let heard: string;
const behind = new Set<Socket>();

beforeEach(async () => {
  heard = '';
  echo = createServer((socket) => {
    behind.add(socket);
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        heard += chunk.toString();
        socket.write(chunk);
      });
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await startSwallowingProxy({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port });
});

afterEach(async () => {
  await proxy.stop();
  for (const socket of behind) socket.destroy();
  echo.close();
});

const open = async (): Promise<Socket> => {
  const socket = connect(proxy.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

const exchange = async (socket: Socket, text: string): Promise<string> => {
  socket.write(text);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
};

it('silently cuts off open and new connections until it heals', async () => {
  const before = await open();
  expect(await exchange(before, 'a')).toBe('a');
  proxy.cutOff();
  before.write('lost');
  const during = await open();
  during.write('lost');
  // The proxy accepts this connection only after it has read the bytes written before.
  await open();
  const closed = [before, during].map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
  expect([before, during].map(({ destroyed }) => destroyed)).toEqual([false, false]);
  proxy.heal();
  await Promise.all(closed);
  expect(await exchange(await open(), 'b')).toBe('b');
  expect(heard).toBe('ab');
});
