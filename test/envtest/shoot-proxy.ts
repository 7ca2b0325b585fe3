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
  /** The body ends after this many bytes: the connection is then closed, or stays open and silent. */
  readonly endsAfter?: { readonly bytes: number; readonly how: 'closed' | 'silent' };
}

/** The path and `accept` header that replace the request's own. */
interface ForwardOptions {
  readonly path?: string;
  readonly accept?: string;
}

/** Sends the request to the API server and returns the response. */
export type ForwardRequest = (other?: ForwardOptions) => Promise<ProxyResponse>;

/** Handles the request for `path`: returns the response for the prober, perhaps altered, or none. */
export type RequestInterceptor = (path: string, ask: ForwardRequest) => Promise<ProxyResponse | 'no answer'>;

/**
 * The fate of a connection. `terminated`: TLS ends here, and an interceptor handles the requests. `tunnelled`: all bytes pass. `stuck`: in the
 * middle of the TLS handshake, bytes from the API server stop passing. `silent`: it is accepted, and nothing follows. `reset`: it is reset.
 */
export type ConnectionFate = 'terminated' | 'tunnelled' | 'stuck' | 'silent' | 'reset';

const stuckAfterBytes = 100;
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'host'];

/** Returns the headers that a proxy passes on, without the one that it replaces itself. */
export const endToEnd = (
  headers: IncomingHttpHeaders,
  replaced: 'authorization' | 'content-length',
): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== replaced && !hopByHop.includes(name)));

const pass: RequestInterceptor = (_, ask) => ask();

const send = (answer: ProxyResponse, response: ServerResponse): void => {
  const { status, headers, body, endsAfter } = answer;
  response.writeHead(status, { ...endToEnd(headers, 'content-length'), 'content-length': body.length });
  if (endsAfter === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, endsAfter.bytes), () => {
    if (endsAfter.how === 'closed') response.socket?.end();
  });
};

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
  #passage: ConnectionFate = 'terminated';
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

  /** Sets the fate of new connections. */
  admit(passage: ConnectionFate): void {
    this.#passage = passage;
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
    if (this.#passage === 'terminated') this.#terminator.emit('connection', socket);
    else if (this.#passage === 'reset') socket.resetAndDestroy();
    else if (this.#passage !== 'silent') this.#tunnel(socket, this.#passage === 'stuck');
  }

  #tunnel(socket: Socket, isStuck: boolean): void {
    const upstream = connect(this.#shoot.port, this.#shoot.host);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      from.once('error', () => to.destroy()).once('close', () => to.destroy());
    }
    socket.pipe(upstream);
    if (isStuck) upstream.once('data', (chunk: Buffer) => socket.write(chunk.subarray(0, stuckAfterBytes)));
    else upstream.pipe(socket);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#interceptor(request.url ?? '/', (other) => this.#ask(request, other));
      if (answer !== 'no answer') send(answer, response);
    } catch {
      // The connection to the API server broke: break the prober's too, so that the prober notices.
      request.socket.destroy();
    }
  }

  async #ask(
    request: IncomingMessage,
    { path = request.url ?? '/', accept }: ForwardOptions = {},
  ): Promise<ProxyResponse> {
    const { host, port } = this.#shoot;
    const headers = { ...endToEnd(request.headers, 'content-length'), ...(accept === undefined ? {} : { accept }) };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpsRequest({ host, port, agent: this.#agent, path, headers });
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
      outgoing.end();
    });
    return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  }
}
