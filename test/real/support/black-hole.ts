import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A port of 127.0.0.1 at which the kernel drops packets: a connection attempt is neither accepted nor refused. */
export interface BlackHole {
  readonly port: number;
  close(): void;
}

/** Connections that fill a backlog of 1: the kernel accepts one more. */
const placesTaken = 2;

/** Listens, but never accepts: when the backlog is full, the kernel drops further connection attempts. Ends with the process that started it. */
const script = `
const server = require('net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  const parent = process.ppid;
  require('fs').writeSync(1, String(server.address().port));
  while (process.ppid === parent) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  process.exit();
});`;

const fill = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket.unref().on('error', () => undefined);
};

/** Opens a black hole. Works only on Linux. */
export const openBlackHole = async (): Promise<BlackHole> => {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  child.stdout.destroy();
  child.unref();
  const sockets = await Promise.all(Array.from({ length: placesTaken }, () => fill(port)));
  return {
    port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
    },
  };
};
