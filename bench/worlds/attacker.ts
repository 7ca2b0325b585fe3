// Separate process: a client without credentials that does its worst to the servers of a program.
import { type Socket, connect } from 'node:net';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';

/** A server to attack, and the path of its largest response. */
export interface AttackedServer {
  readonly port: number;
  readonly path: string;
}

export interface AttackerInit {
  readonly servers: readonly AttackedServer[];
  /** Number of connections that are open to each server at once, if it lets them. */
  readonly atOnce: number;
}

/** Counts for each server, in the order of `AttackerInit.servers`. */
export interface Attack {
  /** Number of connections that were opened. */
  readonly connections: number;
  /** Bytes of pipelined requests that the kernel has taken. */
  readonly pipelinedBytes: number;
}

export interface AttackerProcess extends Answers {
  readonly ready: null;
  /** Starts the attack, which lasts as long as the process. */
  readonly attack: null;
  readonly counts: readonly Attack[];
}

const { servers, atOnce } = servedArgs() as AttackerInit;

/** Time in milliseconds after which a client gives up that reads nothing. */
const ignoreMs = 15_000;

const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Counts and opens the connections to one server. */
const attackServer = ({ port, path }: AttackedServer) => {
  const counts = { connections: 0, pipelinedBytes: 0 };
  const request = requestFor(path);
  const pipeline = Buffer.from(request.repeat(Math.ceil(64_000 / request.length)));

  const flood = (socket: Socket): void => {
    socket.write(pipeline, (error) => {
      if (error !== undefined && error !== null) return;
      counts.pipelinedBytes += pipeline.length;
      flood(socket);
    });
  };
  /** Asks and reads nothing. So it would not notice either that the server has closed the connection. */
  const ignore = (socket: Socket): void => {
    const timer = setTimeout(() => socket.destroy(), ignoreMs);
    socket.once('close', () => clearTimeout(timer));
    socket.write(request);
  };
  const trickle = (socket: Socket): void => {
    const timer = setInterval(() => socket.resume().write('A'), 100);
    socket.once('close', () => clearInterval(timer));
  };
  /** Ways to cost a server much. */
  const ways: readonly ((socket: Socket) => void)[] = [
    flood,
    (socket) => void socket.resume(),
    ignore,
    trickle,
    flood,
    (socket) => void socket.resume().write(requestFor(`/status?shoot=${String(counts.connections)}`)),
    (socket) => void socket.once('data', () => socket.destroy()).write(requestFor('/events')),
  ];
  const open = (): void => {
    const way = ways[counts.connections % ways.length];
    counts.connections += 1;
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => way?.(socket));
    socket.on('error', () => undefined);
    socket.once('close', open);
  };
  return { counts, open };
};

const attacks = servers.map(attackServer);

answerOrders<AttackerProcess>(null, {
  attack: () => {
    for (const { open } of attacks) for (let count = 0; count < atOnce; count += 1) open();
    return null;
  },
  counts: () => attacks.map(({ counts }) => ({ ...counts })),
});
