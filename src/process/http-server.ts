import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../ports/logger.ts';
import { formatBindAddress } from './bind-address.ts';
import { type Runnable, whenAborted } from './lifecycle.ts';
import type { BindAddress } from './settings.ts';

export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Handlers of GET by exact path; they receive the query. An error of a handler is logged, and the response is a 500. */
export type HttpRoutes = ReadonlyMap<string, (query: URLSearchParams) => HttpResponse | Promise<HttpResponse>>;

/** Handles one request. `signal` aborts when the server stops: streams must end then. Never throws. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => void;

export interface HttpServerOptions {
  /** Name for logs, such as `health server`. */
  readonly name: string;
  readonly address: BindAddress;
  /** Command line flag that the address came from, for errors. */
  readonly flag: string;
  readonly handle: HttpHandler;
  readonly logger: Logger;
  /** Called with the address once the server listens, with the port that the system chose for port 0. */
  readonly onListening?: (address: BindAddress) => void;
}

const text = (status: number, body: string): HttpResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${body}\n`,
});

interface RoutedServerOptions extends Omit<HttpServerOptions, 'handle'> {
  readonly routes: HttpRoutes;
}

const answer = async (
  request: IncomingMessage,
  { name, routes, logger }: RoutedServerOptions,
): Promise<HttpResponse> => {
  const [path = '', query = ''] = (request.url ?? '').split(/[?#]/, 2);
  const route = routes.get(path);
  if (route === undefined) return text(404, `not found; there is ${[...routes.keys()].join(' and ')}`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'only GET and HEAD are allowed');
  try {
    return await route(new URLSearchParams(query));
  } catch (error) {
    logger.error(`${name}: a request failed`, { path, error });
    return text(500, 'internal error; see the log');
  }
};

const send = (response: ServerResponse, { status, contentType, body }: HttpResponse): void => {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
  });
  response.end(body);
};

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already',
  EACCES: 'no permission (ports below 1024 need a privilege)',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
};

const listen = (server: Server, { address, flag }: HttpServerOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem = problems[cause.code ?? ''] ?? cause.message;
      const message = `cannot listen on ${formatBindAddress(address)} (${flag}): ${problem}; choose another address, or 0 for none`;
      reject(Object.assign(new Error(message, { cause }), { code: cause.code }));
    });
    server.listen(address.host === '' ? { port: address.port } : { host: address.host, port: address.port });
  });

const failed = (server: Server): Promise<never> =>
  new Promise((_resolve, reject) => {
    server.once('error', reject);
  });

const tellAddress = (server: Server, { name, logger, onListening }: HttpServerOptions): void => {
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) return;
  logger.info('listening', { server: name, address: bound.address, port: bound.port });
  onListening?.({ host: bound.address, port: bound.port });
};

/** Number of requests in progress per connection. A connection with none (idle, or with half a request) may be closed at any time. */
type Connections = Map<Socket, number>;

const closeQuiet = (connections: Connections): void => {
  for (const [socket, answers] of connections) if (answers === 0) socket.destroy();
};

/** Runs an HTTP server. If it cannot listen, `run` rejects with an error that names the flag. */
export const serveHttp = (options: HttpServerOptions): Runnable => ({
  name: options.name,
  async run(signal, ready) {
    const connections: Connections = new Map();
    const count = (socket: Socket, by: number): void => {
      const answers = connections.get(socket);
      if (answers !== undefined) connections.set(socket, answers + by);
      if (signal.aborted) closeQuiet(connections);
    };
    const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
      count(request.socket, 1);
      response.once('close', () => count(request.socket, -1));
      options.handle(request, response, signal);
    });
    server.on('connection', (socket) => {
      connections.set(socket, 0);
      socket.once('close', () => connections.delete(socket));
    });
    await listen(server, options);
    tellAddress(server, options);
    ready();
    try {
      await Promise.race([whenAborted(signal), failed(server)]);
    } finally {
      const closed = new Promise((resolve) => server.close(resolve));
      closeQuiet(connections);
      await closed;
    }
  },
});

/** Runs an HTTP server that serves `routes`. */
export const createHttpServer = ({ routes, ...options }: RoutedServerOptions): Runnable =>
  serveHttp({
    ...options,
    handle: (request, response) =>
      void answer(request, { ...options, routes }).then((result) => send(response, result)),
  });
