import { type Socket, connect } from 'node:net';

/** A server to attack, and the path of its largest response. */
interface AttackedServer {
  readonly port: number;
  readonly path: string;
}

export interface Attack {
  /** Connections to each server so far. */
  readonly connections: () => readonly number[];
  stop(): void;
}

/** Time in milliseconds after which a client gives up that reads nothing. */
const ignoreMs = 15_000;

const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const flood = (socket: Socket, pipeline: Buffer): void => {
  socket.write(pipeline, (error) => {
    if (error === undefined || error === null) flood(socket, pipeline);
  });
};

/** Ways in which a client without credentials costs a server much. */
const waysTo = (path: string): readonly ((socket: Socket) => void)[] => {
  const request = requestFor(path);
  const pipeline = Buffer.from(request.repeat(Math.ceil(64_000 / request.length)));
  return [
    (socket) => flood(socket, pipeline),
    (socket) => void socket.resume(),
    (socket) => {
      // Reads nothing, so it would not notice either that the server has closed the connection.
      const timer = setTimeout(() => socket.destroy(), ignoreMs);
      socket.once('close', () => clearTimeout(timer)).write(request);
    },
    (socket) => {
      const timer = setInterval(() => socket.resume().write('A'), 100);
      socket.once('close', () => clearInterval(timer));
    },
    (socket) => void socket.resume().write(requestFor('/status?shoot=none')),
    (socket) => void socket.once('data', () => socket.destroy()).write(requestFor('/view')),
  ];
};

/** Keeps `atOnce` connections to each server open, each of which does its worst, and opens another one whenever one is closed. */
export const attack = (servers: readonly AttackedServer[], atOnce: number): Attack => {
  const sockets = new Set<Socket>();
  let stopped = false;
  const counts = servers.map(() => 0);
  servers.forEach(({ port, path }, server) => {
    const ways = waysTo(path);
    const open = (): void => {
      if (stopped) return;
      const way = ways[(counts[server] ?? 0) % ways.length];
      counts[server] = (counts[server] ?? 0) + 1;
      const socket = connect(port, '127.0.0.1', () => way?.(socket));
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(socket);
          open();
        });
    };
    for (let count = 0; count < atOnce; count += 1) open();
  });
  return {
    connections: () => counts,
    stop: () => {
      stopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
};
