import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, createServer } from 'node:http';
import { type Server, createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { formatBindAddress } from './bind-address.ts';
import { AcceptedConnection, headMs } from './connection.ts';
import { type Runnable, whenAborted } from './lifecycle.ts';
import type { BindAddress } from './settings.ts';

export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer | string;
  readonly headers?: OutgoingHttpHeaders | undefined;
}

/** Handlers of GET by exact path; they receive the query. */
export type HttpRoutes = ReadonlyMap<string, (query: URLSearchParams) => HttpResponse | Promise<HttpResponse>>;

/** Answers one request, within ten seconds. An error is logged, and the response is a 500. */
export type HttpHandler = (request: IncomingMessage) => HttpResponse | Promise<HttpResponse>;

export interface HttpServerOptions {
  /** Name for logs, such as `health server`. */
  readonly name: string;
  readonly address: BindAddress;
  /** Command line flag that the address came from, for errors. */
  readonly flag: string;
  readonly handle: HttpHandler;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the address once the server listens, with the port that the system chose for port 0. */
  readonly onListening?: ((address: BindAddress) => void) | undefined;
}

/**
 * Maximum numbers of connections: of those whose request has not arrived, and of those whose response is made or read. One more makes the oldest give way,
 * which has had its time: so a kubelet gets its answer whoever else connects.
 */
const most = { waiting: 256, answering: 32 };
export const textResponse = (status: number, text: string, headers?: OutgoingHttpHeaders): HttpResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
  headers,
});

interface RoutedServerOptions extends Omit<HttpServerOptions, 'handle'> {
  readonly routes: HttpRoutes;
}

const answerBy =
  (routes: HttpRoutes): HttpHandler =>
  (request) => {
    const [path = '', query = ''] = (request.url ?? '').split(/[?#]/, 2);
    const route = routes.get(path);
    if (route === undefined) return textResponse(404, `not found; there is ${[...routes.keys()].join(' and ')}`);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return textResponse(405, 'only GET and HEAD are allowed', { Allow: 'GET, HEAD' });
    }
    return route(new URLSearchParams(query));
  };

const answer = async (request: IncomingMessage, { name, handle, logger }: HttpServerOptions): Promise<HttpResponse> => {
  try {
    return await handle(request);
  } catch (error) {
    const [path] = (request.url ?? '').split(/[?#]/, 1);
    logger.error(`${name}: a request failed`, { path, error });
    return textResponse(500, 'internal error; see the log');
  }
};

/** Sends a response, unless the client has gone. */
const sendResponse = (response: ServerResponse, { status, contentType, body, headers }: HttpResponse): void => {
  if (response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
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

/** Returns the server of the sockets, and a function that stops their connections. */
const createServers = (options: HttpServerOptions) => {
  const { clock } = options;
  /** By what Node takes for their sockets, the oldest first. */
  const open = new Map<Duplex, AcceptedConnection>();
  const giveWay = (phase: keyof typeof most): void => {
    const [oldest, ...others] = [...open.values()].filter((connection) => connection.phase === phase);
    if (others.length >= most[phase]) oldest?.close();
  };
  // It parses and formats, and never listens.
  const http = createServer((request, response) => {
    response.once('finish', () => {
      if (response.shouldKeepAlive) open.get(request.socket)?.answered();
    });
    void answer(request, options).then((result) => sendResponse(response, result));
  });
  // What clients are told, a little less than the truth: a connection that ends while they use it again is an error to some.
  http.keepAliveTimeout = headMs - 1_000;
  const onRequest = (): void => giveWay('answering');
  const server = createTcpServer({ noDelay: true }, (socket) => {
    const connection = new AcceptedConnection(socket, { clock, http, onRequest });
    open.set(connection.stream, connection);
    giveWay('waiting');
    socket.once('close', () => open.delete(connection.stream));
  });
  const stop = (): void => {
    for (const connection of open.values()) connection.stop();
  };
  return { server, stop };
};

/**
 * Runs an HTTP server that no client can make costly: few connections, of which the oldest gives way to a new one, each with one request of at most 16 KiB
 * at a time, whose response the client must read within seconds. If it cannot listen, `run` rejects with an error that names the flag.
 */
export const serveHttp = (options: HttpServerOptions): Runnable => ({
  name: options.name,
  async run(signal, ready) {
    const { server, stop } = createServers(options);
    await listen(server, options);
    tellAddress(server, options);
    ready();
    try {
      await Promise.race([whenAborted(signal), failed(server)]);
    } finally {
      const closed = new Promise((resolve) => server.close(resolve));
      stop();
      await closed;
    }
  },
});

/** Runs an HTTP server that serves `routes`. */
export const createHttpServer = ({ routes, ...options }: RoutedServerOptions): Runnable =>
  serveHttp({ ...options, handle: answerBy(routes) });
