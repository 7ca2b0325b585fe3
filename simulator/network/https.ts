import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { SimCertificates } from './certificates.ts';
import { type HttpsAuth, isAllowed, kubeRequest, refuse, send } from './http-exchange.ts';
import { answerUpgrade } from './port-forward.ts';

export interface HttpsFaceOptions {
  readonly kube: Kube;
  readonly certificates: SimCertificates;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Absent: everybody is let in. Present: 401 for whoever it does not name. */
  readonly auth?: HttpsAuth;
  /** Whether connections are forwarded to pods: where not, such requests are never answered. Default: always. */
  readonly reachesKubelets?: () => boolean;
}

/**
 * `open`; `refused`: nobody listens, and what was connected is reset; `silent`: connections are taken and kept, and nothing is ever
 * answered, like a path whose packets get lost (a half-open connection). What was silent is reset when it opens again.
 */
export type Reachability = 'open' | 'refused' | 'silent';

export interface HttpsStats {
  /** TCP connections so far, those that never got through TLS included. */
  readonly connections: number;
  readonly openConnections: number;
  /** TLS handshakes so far, and how many of them resumed a session. */
  readonly handshakes: number;
  readonly resumed: number;
  readonly requests: number;
  /** Over TCP, TLS included: what clients sent, and what they got. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface HttpsFace {
  readonly url: string;
  readonly port: number;
  stats(): HttpsStats;
  setReachability(reachability: Reachability): Promise<void>;
  /** Resets every open connection. */
  disconnect(): void;
  close(): Promise<void>;
}

/** Idle connections stay; a server that closes them early makes every pooled client race against it. */
const keepAliveMs = 180_000;

const createTlsFront = (options: HttpsFaceOptions): HttpsServer => {
  const { certificates, auth } = options;
  const server = createHttpsServer({
    key: certificates.serving.key,
    cert: certificates.serving.certificate,
    ca: certificates.ca,
    requestCert: auth?.clientCertificates === true,
    rejectUnauthorized: false,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: 0,
  });
  server.timeout = 0;
  return server;
};

/**
 * Serves `kube` over HTTPS: keep-alive, streamed watches, TLS session tickets. A request of `kube` that fails instead of answering
 * closes its connection, which is what a client sees of a reset.
 */
export const serveHttps = async (options: HttpsFaceOptions): Promise<HttpsFace> => {
  const { kube, host = '127.0.0.1', auth, reachesKubelets = () => true } = options;
  const tls = createTlsFront(options);
  const tcp = createTcpServer();
  const sockets = new Set<Socket>();
  const lost: (() => void)[] = [];
  const counts = { connections: 0, handshakes: 0, resumed: 0, requests: 0 };
  /** Of connections that have ended. */
  const bytes = { in: 0, out: 0 };
  let reachability: Reachability = 'open';

  /** What was sent into silence has never arrived: it is given up, and not done late, when the silence ends. */
  const gate = async (): Promise<void> => {
    if (reachability !== 'silent') return;
    await new Promise<never>((_resolve, reject) => lost.push(() => reject(new Error('the connection was lost'))));
  };

  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const controller = new AbortController();
    response.once('close', () => controller.abort(new Error('the client has gone')));
    await gate();
    if (!isAllowed(auth, message)) {
      refuse(response);
      return;
    }
    const request = await kubeRequest(message, controller.signal);
    await send(await kube.request(request), { request, response, gate });
  };

  const upgrade = async (message: IncomingMessage, socket: Duplex): Promise<void> => {
    const controller = new AbortController();
    socket.once('close', () => controller.abort(new Error('the client has gone')));
    socket.on('error', () => undefined);
    await gate();
    await answerUpgrade({ message, socket, kube, auth, reachesKubelets, signal: controller.signal });
  };

  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      tcp.once('error', reject);
      tcp.listen(port, host, () => {
        tcp.off('error', reject);
        resolve();
      });
    });

  const stopListening = (): Promise<void> =>
    new Promise((resolve) => {
      if (tcp.listening) tcp.close(() => resolve());
      else resolve();
    });

  tcp.on('connection', (socket) => {
    counts.connections += 1;
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      bytes.in += socket.bytesRead;
      bytes.out += socket.bytesWritten;
    });
    if (reachability === 'open') tls.emit('connection', socket);
  });
  tls.on('secureConnection', (socket: TLSSocket) => {
    counts.handshakes += 1;
    if (socket.isSessionReused()) counts.resumed += 1;
  });
  tls.on('request', (message: IncomingMessage, response: ServerResponse) => {
    counts.requests += 1;
    answer(message, response).catch(() => message.socket.destroy());
  });
  tls.on('upgrade', (message: IncomingMessage, socket: Duplex) => {
    counts.requests += 1;
    upgrade(message, socket).catch(() => socket.destroy());
  });

  await listen(options.port ?? 0);
  const { port } = tcp.address() as AddressInfo;

  return {
    url: `https://${host}:${port}`,
    port,
    stats: () => {
      const open = [...sockets];
      return {
        ...counts,
        openConnections: sockets.size,
        bytesIn: open.reduce((sum, { bytesRead }) => sum + bytesRead, bytes.in),
        bytesOut: open.reduce((sum, { bytesWritten }) => sum + bytesWritten, bytes.out),
      };
    },
    disconnect,
    async setReachability(next) {
      if (next === reachability) return;
      const before = reachability;
      reachability = next;
      if (before === 'silent' || next === 'refused') disconnect();
      if (before === 'silent') for (const giveUp of lost.splice(0)) giveUp();
      if (next === 'refused') await stopListening();
      if (before === 'refused') await listen(port);
    },
    async close() {
      const stopped = stopListening();
      reachability = 'open';
      disconnect();
      for (const giveUp of lost.splice(0)) giveUp();
      await stopped;
    },
  };
};
