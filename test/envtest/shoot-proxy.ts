import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  Agent,
  createServer as createHttpsServer,
  request as httpsRequest,
  type Server as HttpsServer,
} from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Certificate } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';

/** A response as it is sent to the prober. */
export interface ProxyResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Returns the response for the prober, perhaps that of the API server, which `ask` asks. */
type RequestInterceptor = (ask: () => Promise<ProxyResponse>) => Promise<ProxyResponse>;

const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'host'];

/** Returns the headers that a proxy passes on, without the one that it replaces itself. */
export const endToEnd = (
  headers: IncomingHttpHeaders,
  replaced: 'authorization' | 'content-length',
): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== replaced && !hopByHop.includes(name)));

const pass: RequestInterceptor = (ask) => ask();

/** A proxy between the prober and a shoot's API server. It passes credentials on. */
export class ShootProxy {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  readonly #shoot: ControlPlane;
  readonly #agent: Agent;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  /** Terminates TLS on connections that it is given. It does not listen itself. */
  #terminator: HttpsServer;
  #isTunnelled = false;
  #interceptor = pass;

  private constructor(shoot: ControlPlane, listener: Server, certificate: Certificate) {
    this.#shoot = shoot;
    this.#listener = listener;
    // Shorter than the API server's idle timeout, so that the API server never closes a connection that is about to be used.
    this.#agent = new Agent({ keepAlive: true, timeout: 30_000, ca: shoot.caPem });
    this.#terminator = this.#createTerminator(certificate);
    this.port = (listener.address() as AddressInfo).port;
    this.url = `https://127.0.0.1:${String(this.port)}`;
    listener.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Starts a proxy on a free port. */
  static async start(shoot: ControlPlane, certificate: Certificate): Promise<ShootProxy> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return new ShootProxy(shoot, listener, certificate);
  }

  /** Passes all bytes of new connections from now on, so that TLS ends at the API server. */
  tunnel(): void {
    this.#isTunnelled = true;
  }

  /** Sets the handler of requests whose TLS ends here. Without one, they pass. */
  intercept(interceptor: RequestInterceptor = pass): void {
    this.#interceptor = interceptor;
  }

  /** Presents another certificate from now on, and resumes no TLS session of the former one. */
  present(certificate: Certificate): void {
    this.#terminator = this.#createTerminator(certificate);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    await closed;
  }

  #createTerminator({ certificatePem: cert, keyPem: key }: Certificate): HttpsServer {
    const server = createHttpsServer({ cert, key }, (request, response) => void this.#handle(request, response));
    return server.on('tlsClientError', () => undefined);
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    if (this.#isTunnelled) this.#tunnel(socket);
    else this.#terminator.emit('connection', socket);
  }

  #tunnel(socket: Socket): void {
    const upstream = connect(this.#shoot.port, this.#shoot.host);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      from.once('error', () => to.destroy()).once('close', () => to.destroy());
    }
    socket.pipe(upstream).pipe(socket);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { status, headers, body } = await this.#interceptor(() => this.#ask(request));
      response.writeHead(status, { ...endToEnd(headers, 'content-length'), 'content-length': body.length }).end(body);
    } catch {
      // The connection to the API server broke: break the prober's too, so that the prober notices.
      request.socket.destroy();
    }
  }

  async #ask(request: IncomingMessage): Promise<ProxyResponse> {
    const { host, port } = this.#shoot;
    const headers = endToEnd(request.headers, 'content-length');
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpsRequest({ host, port, agent: this.#agent, path: request.url ?? '/', headers });
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
      outgoing.end();
    });
    return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  }
}
