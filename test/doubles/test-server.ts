import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

export interface TestServerStats {
  /** Number of TCP connections so far. */
  readonly connections: number;
  readonly openConnections: number;
  /** Number of TLS handshakes so far; `resumed`: of those that resumed a session. */
  readonly handshakes: number;
  readonly resumed: number;
  readonly requests: number;
}

export interface TestServer {
  readonly host: string;
  readonly port: number;
  stats(): TestServerStats;
  /** Open TCP connections, oldest first. */
  readonly sockets: readonly Socket[];
  /** Resolves when all connections have ended. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface TestServerOptions {
  /** Certificate, key and other TLS options. Absent for plain HTTP. */
  readonly tls?: ServerOptions;
  readonly handler: RequestListener;
}

const host = '127.0.0.1';

interface Counts {
  handshakes: number;
  resumed: number;
  requests: number;
}

const face = async (tcp: TcpServer, accept: (socket: Socket) => void, counts: Counts): Promise<TestServer> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  let whenIdle: (() => void)[] = [];
  tcp.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size > 0) return;
      for (const resolve of whenIdle) resolve();
      whenIdle = [];
    });
    accept(socket);
  });
  await new Promise<void>((resolve) => tcp.listen(0, host, resolve));
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => tcp.close(resolve));
  };
  onTestFinished(close);
  return {
    host,
    port: (tcp.address() as AddressInfo).port,
    stats: () => ({ ...counts, connections, openConnections: sockets.size }),
    get sockets() {
      return [...sockets];
    },
    idle: () => new Promise((resolve) => (sockets.size === 0 ? resolve() : whenIdle.push(resolve))),
    close,
  };
};

/** Starts an HTTP or HTTPS server on the loopback interface that counts connections, handshakes and requests. It is closed at the end of the test. */
export const startTestServer = ({ tls, handler }: TestServerOptions): Promise<TestServer> => {
  const counts: Counts = { handshakes: 0, resumed: 0, requests: 0 };
  const listener: RequestListener = (request: IncomingMessage, response) => {
    counts.requests += 1;
    handler(request, response);
  };
  const server: Server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener);
  server.keepAliveTimeout = 0;
  server.on('secureConnection', (socket: TLSSocket) => {
    counts.handshakes += 1;
    if (socket.isSessionReused()) counts.resumed += 1;
  });
  return face(createTcpServer(), (socket) => void server.emit('connection', socket), counts);
};

/** Starts a TCP server whose connections the test handles itself, until its end. */
export const startTcpServer = (accept: (socket: Socket) => void): Promise<TestServer> =>
  face(createTcpServer(), accept, { handshakes: 0, resumed: 0, requests: 0 });
