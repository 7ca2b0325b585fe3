import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { isWatch } from '../apiserver/index.ts';
import type { SimCertificates } from './certificates.ts';

export interface SimHttpsServerOptions {
  readonly kube: Kube;
  readonly certificates: SimCertificates;
}

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies KubeRequest['method'][];

const isMethod = (method: string): method is KubeRequest['method'] => methods.includes(method);

const headersOf = (message: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );

/** Reads a request as the server sees it; resolves when the whole body has arrived. */
const kubeRequest = async (message: IncomingMessage, signal: AbortSignal): Promise<KubeRequest> => {
  const { url = '/', method = 'GET' } = message;
  const mark = url.indexOf('?');
  const body = await buffer(message);
  return {
    method: isMethod(method) ? method : 'POST',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? {} : Object.fromEntries(new URLSearchParams(url.slice(mark + 1))),
    headers: headersOf(message),
    ...(body.length === 0 ? {} : { body }),
    signal,
  };
};

/** Sends the response chunk by chunk, because a watch does not end by itself. */
const stream = async (answer: KubeResponse, response: ServerResponse): Promise<void> => {
  response.writeHead(answer.status, { ...answer.headers });
  response.flushHeaders();
  await pipeline(Readable.from(answer.body), response);
};

const sendWhole = async (answer: KubeResponse, response: ServerResponse): Promise<void> => {
  const body = await buffer(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
  response.end(body);
};

/** Sends the answer to a request. */
const send = (answer: KubeResponse, { query = {} }: KubeRequest, response: ServerResponse): Promise<void> =>
  isWatch(query) ? stream(answer, response) : sendWhole(answer, response);

/** Returns a signal that aborts when the client closes the connection. */
const whileOpen = (stream: ServerResponse): AbortSignal => {
  const controller = new AbortController();
  stream.once('close', () => controller.abort(new Error('the client has gone')));
  return controller.signal;
};

/** Idle connections stay open this long: if the server closed them early, every pooled client would race against it. */
const keepAliveMs = 180_000;

const host = '127.0.0.1';

const createTlsFront = ({ certificates }: SimHttpsServerOptions): HttpsServer => {
  const server = createHttpsServer({
    key: certificates.serving.key,
    cert: certificates.serving.certificate,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: 0,
  });
  server.timeout = 0;
  return server;
};

/**
 * Serves `kube`, which checks credentials, over HTTPS: keep-alive, streamed watches, TLS session tickets. If `kube` rejects a request instead of responding, the
 * connection is closed, and the client sees a reset.
 */
export class SimHttpsServer {
  readonly #kube: Kube;
  readonly #tls: HttpsServer;
  readonly #tcp = createTcpServer();
  readonly #sockets = new Set<Socket>();
  #connections = 0;
  #port = 0;

  /** Creates the server; `listen` opens its port. */
  constructor(options: SimHttpsServerOptions) {
    this.#kube = options.kube;
    this.#tls = createTlsFront(options);
    this.#tcp.on('connection', (socket) => this.#connect(socket));
    this.#tls.on('request', (message: IncomingMessage, response: ServerResponse) => {
      this.#answer(message, response).catch(() => message.socket.destroy());
    });
  }

  get url(): string {
    return `https://${host}:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** TCP connections so far, including those that never completed a TLS handshake. */
  get connections(): number {
    return this.#connections;
  }

  /** Starts to listen, on any free port. */
  async listen(): Promise<void> {
    this.#tcp.listen(0, host);
    await once(this.#tcp, 'listening');
    this.#port = (this.#tcp.address() as AddressInfo).port;
  }

  /** Stops to listen, and resets every open connection. */
  async close(): Promise<void> {
    const closed = once(this.#tcp, 'close');
    this.#tcp.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connect(socket: Socket): void {
    this.#connections += 1;
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    this.#tls.emit('connection', socket);
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await kubeRequest(message, whileOpen(response));
    await send(await this.#kube.request(request), request, response);
  }
}

export const serveHttps = async (options: SimHttpsServerOptions): Promise<SimHttpsServer> => {
  const face = new SimHttpsServer(options);
  await face.listen();
  return face;
};
