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

/** An answer as it goes to the prober. */
export interface FrontAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** After so many bytes of the body nothing comes any more: the connection is closed, or stays open. */
  readonly endsAfter?: { readonly bytes: number; readonly how: 'closed' | 'silent' };
}

/** The path and `accept` header to send in place of the request's own. */
interface AskOptions {
  readonly path?: string;
  readonly accept?: string;
}

/** Sends the request to the API server. */
export type Ask = (other?: AskOptions) => Promise<FrontAnswer>;

/** What becomes of the request for `path`. */
export type Meddler = (path: string, ask: Ask) => Promise<FrontAnswer | 'no answer'>;

/**
 * What becomes of a connection. `terminated`: TLS ends here, and a meddler sees requests. `tunnelled`: its bytes pass. `stuck`: so they do
 * until the API server has sent some, in the middle of the handshake. `silent`: it is accepted, and that is all. `reset`: not even that.
 */
export type Passage = 'terminated' | 'tunnelled' | 'stuck' | 'silent' | 'reset';

const stuckAfterBytes = 100;
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host']);

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));

const pass: Meddler = (_, ask) => ask();

const send = (answer: FrontAnswer, response: ServerResponse): void => {
  const { status, headers, body, endsAfter } = answer;
  response.writeHead(status, { ...endToEnd(headers), 'content-length': body.length });
  if (endsAfter === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, endsAfter.bytes), () => {
    if (endsAfter.how === 'closed') response.socket?.end();
  });
};

/** A proxy between the prober and the API server of a shoot. Credentials pass through. */
export class ShootFront {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  readonly #shoot: ControlPlane;
  readonly #agent: Agent;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  /** Ends the TLS of connections that it is handed; it does not listen itself. */
  #terminator: HttpsServer;
  #passage: Passage = 'terminated';
  #meddler = pass;

  private constructor(shoot: ControlPlane, listener: Server, certificate: Certificate) {
    this.#shoot = shoot;
    this.#listener = listener;
    // The time-out is below the API server's own, so that the API server never closes a connection that is about to be used.
    this.#agent = new Agent({ keepAlive: true, timeout: 30_000, ca: shoot.caPem });
    this.#terminator = this.#createTerminator(certificate);
    this.port = (listener.address() as AddressInfo).port;
    this.url = `https://127.0.0.1:${String(this.port)}`;
    listener.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Listens on a free port. */
  static async start(shoot: ControlPlane, certificate: Certificate): Promise<ShootFront> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return new ShootFront(shoot, listener, certificate);
  }

  /** Decides what happens to new connections. */
  admit(passage: Passage): void {
    this.#passage = passage;
  }

  /** Decides what happens to requests whose TLS ends here; undefined lets them pass. */
  meddle(meddler: Meddler = pass): void {
    this.#meddler = meddler;
  }

  /** Shows another certificate from now on, and resumes no TLS session of the former one. */
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
      const answer = await this.#meddler(request.url ?? '/', (other) => this.#ask(request, other));
      if (answer !== 'no answer') send(answer, response);
    } catch {
      // The API server broke its connection: break the prober's, so that the prober notices.
      request.socket.destroy();
    }
  }

  async #ask(request: IncomingMessage, { path = request.url ?? '/', accept }: AskOptions = {}): Promise<FrontAnswer> {
    const { host, port } = this.#shoot;
    const headers = { ...endToEnd(request.headers), ...(accept === undefined ? {} : { accept }) };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpsRequest({ host, port, agent: this.#agent, path, headers });
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
      outgoing.end();
    });
    return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  }
}
