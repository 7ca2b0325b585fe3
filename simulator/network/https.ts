import { type EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { SimCertificates } from './certificates.ts';
import { kubeRequest, send } from './http-exchange.ts';
import { answerUpgrade } from './port-forward.ts';

export interface SimHttpsServerOptions {
  readonly kube: Kube;
  readonly certificates: SimCertificates;
  /** True if port-forward requests reach the kubelets; otherwise they never get a response. Default: always. */
  readonly reachesKubelets?: () => boolean;
}

/**
 * State of the network path. `open`; `refused`: nothing listens, and open connections are reset; `silent`: connections are accepted and
 * kept but never get a response, like a path that loses packets (half-open connections), and are reset when that ends.
 */
export type PathState = 'open' | 'refused' | 'silent';

export interface HttpsStats {
  /** TCP connections so far, including those that never completed a TLS handshake. */
  readonly connections: number;
  readonly openConnections: number;
  /** TLS handshakes so far, and how many of them resumed a session. */
  readonly handshakes: number;
  readonly resumed: number;
  readonly requests: number;
  /** Bytes that clients sent and received over TCP, TLS included. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Returns a signal that aborts when the client closes the connection. */
const whileOpen = (stream: EventEmitter): AbortSignal => {
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
  readonly #options: SimHttpsServerOptions;
  readonly #tls: HttpsServer;
  readonly #tcp = createTcpServer();
  readonly #sockets = new Set<Socket>();
  readonly #lost: (() => void)[] = [];
  readonly #counts = { connections: 0, handshakes: 0, resumed: 0, requests: 0 };
  /** Bytes of the connections that have ended. */
  readonly #bytes = { in: 0, out: 0 };
  #reachability: PathState = 'open';
  /** Any free port at first, then always the same. */
  #port = 0;

  /** Creates the server; `listen` opens its port. */
  constructor(options: SimHttpsServerOptions) {
    this.#options = options;
    this.#tls = createTlsFront(options);
    this.#tcp.on('connection', (socket) => this.#connect(socket));
    this.#tls.on('secureConnection', (socket: TLSSocket) => {
      this.#counts.handshakes += 1;
      if (socket.isSessionReused()) this.#counts.resumed += 1;
    });
    this.#tls.on('request', (message: IncomingMessage, response: ServerResponse) => {
      this.#counts.requests += 1;
      this.#answer(message, response).catch(() => message.socket.destroy());
    });
    this.#tls.on('upgrade', (message: IncomingMessage, socket: Duplex) => {
      this.#counts.requests += 1;
      this.#upgrade(message, socket).catch(() => socket.destroy());
    });
  }

  get url(): string {
    return `https://${host}:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  stats(): HttpsStats {
    const open = [...this.#sockets];
    return {
      ...this.#counts,
      openConnections: open.length,
      bytesIn: open.reduce((sum, { bytesRead }) => sum + bytesRead, this.#bytes.in),
      bytesOut: open.reduce((sum, { bytesWritten }) => sum + bytesWritten, this.#bytes.out),
    };
  }

  /** Starts to listen; later calls use the same port again. */
  async listen(): Promise<void> {
    this.#tcp.listen(this.#port, host);
    await once(this.#tcp, 'listening');
    this.#port = (this.#tcp.address() as AddressInfo).port;
  }

  async setReachability(next: PathState): Promise<void> {
    if (next === this.#reachability) return;
    const before = this.#reachability;
    this.#reachability = next;
    if (before === 'silent' || next === 'refused') this.disconnect();
    if (before === 'silent') this.#giveUp();
    if (next === 'refused') await this.#stopListening();
    if (before === 'refused') await this.listen();
  }

  /** Resets every open connection. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const stopped = this.#stopListening();
    this.#reachability = 'open';
    this.disconnect();
    this.#giveUp();
    await stopped;
  }

  #stopListening(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#tcp.listening) this.#tcp.close(() => resolve());
      else resolve();
    });
  }

  #connect(socket: Socket): void {
    this.#counts.connections += 1;
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#bytes.in += socket.bytesRead;
      this.#bytes.out += socket.bytesWritten;
    });
    if (this.#reachability === 'open') this.#tls.emit('connection', socket);
  }

  /** Blocks while the path is `silent`. Requests sent meanwhile never arrived: when the silence ends they fail and are not executed late. */
  async #gate(): Promise<void> {
    if (this.#reachability !== 'silent') return;
    await new Promise<never>((_resolve, reject) => this.#lost.push(() => reject(new Error('the connection was lost'))));
  }

  #giveUp(): void {
    for (const giveUp of this.#lost.splice(0)) giveUp();
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const signal = whileOpen(response);
    await this.#gate();
    const request = await kubeRequest(message, signal);
    await send(await this.#options.kube.request(request), { request, response, gate: () => this.#gate() });
  }

  async #upgrade(message: IncomingMessage, socket: Duplex): Promise<void> {
    const { kube, reachesKubelets = () => true } = this.#options;
    const signal = whileOpen(socket);
    socket.on('error', () => undefined);
    await this.#gate();
    await answerUpgrade({ message, socket, kube, reachesKubelets, signal });
  }
}

export const serveHttps = async (options: SimHttpsServerOptions): Promise<SimHttpsServer> => {
  const face = new SimHttpsServer(options);
  await face.listen();
  return face;
};
