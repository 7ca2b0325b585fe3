import { type IncomingMessage, type Server, createServer } from 'node:http';
import { type ServerOptions, createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ConnectProxy {
  readonly port: number;
  /** Requests so far. */
  readonly asked: readonly IncomingMessage[];
}

export interface ConnectProxyOptions {
  /** Port on this machine to which every request is tunnelled, whatever it asks for. */
  readonly to: number;
  /** Status with which it refuses. Default: it tunnels. */
  readonly status?: number;
  /** Certificate and key of a proxy that speaks TLS itself. */
  readonly tls?: ServerOptions;
}

/** Starts an HTTP proxy on this machine (`CONNECT`), until the end of the test. */
export const startConnectProxy = async ({ to, status = 200, tls }: ConnectProxyOptions): Promise<ConnectProxy> => {
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server: Server = tls === undefined ? createServer() : createHttpsServer(tls);
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request);
    sockets.add(client);
    client.on('error', () => undefined);
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const far = connect(to, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(client).pipe(far);
    });
    far.on('error', () => client.destroy());
    client.on('error', () => far.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
};
