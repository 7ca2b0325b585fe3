import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
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

/** Asks the API server, for the path of the request unless told otherwise; `accept` in place of the request's own. */
export type Ask = (other?: { readonly path?: string; readonly accept?: string }) => Promise<FrontAnswer>;

/** What becomes of the request for `path`. */
export type Meddler = (path: string, ask: Ask) => Promise<FrontAnswer | 'no answer'>;

/**
 * What becomes of a connection. `terminated`: TLS ends here, and a meddler sees requests. `tunnelled`: its bytes pass. `stuck`: so they do
 * until the API server has sent some, in the middle of the handshake. `silent`: it is accepted, and that is all. `reset`: not even that.
 */
export type Passage = 'terminated' | 'tunnelled' | 'stuck' | 'silent' | 'reset';

/** A proxy between the prober and the API server of a shoot. Credentials pass through. */
export interface ShootFront {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  admit(passage: Passage): void;
  /** For requests whose TLS ends here; undefined lets them pass. */
  meddle(meddler: Meddler | undefined): void;
  /** Shows another certificate from now on, without memory of TLS sessions under the former one. */
  present(certificate: Certificate): void;
  stop(): Promise<void>;
}

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

export const startShootFront = async (shoot: ControlPlane, certificate: Certificate): Promise<ShootFront> => {
  const { host, port: apiServerPort, caPem } = shoot;
  // Below the API server's own limit, so that it never closes a connection that is about to be used.
  const agent = new Agent({ keepAlive: true, timeout: 30_000, ca: caPem });
  const sockets = new Set<Socket>();
  let passage: Passage = 'terminated';
  let meddler = pass;

  const askFor =
    (request: IncomingMessage): Ask =>
    async ({ path = request.url ?? '/', accept } = {}) => {
      const headers = { ...endToEnd(request.headers), ...(accept === undefined ? {} : { accept }) };
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const outgoing = httpsRequest({ host, port: apiServerPort, agent, path, headers });
        outgoing.once('error', reject);
        outgoing.once('response', resolve);
        outgoing.end();
      });
      return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
    };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answer = await meddler(request.url ?? '/', askFor(request));
      if (answer !== 'no answer') send(answer, response);
    } catch {
      // The API server has gone: the prober hears of it the same way.
      request.socket.destroy();
    }
  };

  const createTerminator = ({ certificatePem: cert, keyPem: key }: Certificate) =>
    createHttpsServer({ cert, key }, (request, response) => void handle(request, response)).on(
      'tlsClientError',
      () => undefined,
    );
  let terminator = createTerminator(certificate);

  const tunnel = (socket: Socket, isStuck: boolean): void => {
    const upstream = connect(apiServerPort, host);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      from.once('error', () => to.destroy()).once('close', () => to.destroy());
    }
    socket.pipe(upstream);
    if (isStuck) upstream.once('data', (chunk: Buffer) => socket.write(chunk.subarray(0, stuckAfterBytes)));
    else upstream.pipe(socket);
  };

  const door = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    if (passage === 'terminated') terminator.emit('connection', socket);
    else if (passage === 'reset') socket.resetAndDestroy();
    else if (passage !== 'silent') tunnel(socket, passage === 'stuck');
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const { port } = door.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${String(port)}`,
    port,
    admit: (next) => {
      passage = next;
    },
    meddle: (next = pass) => {
      meddler = next;
    },
    present: (next) => {
      terminator = createTerminator(next);
    },
    stop: async () => {
      const closed = new Promise((resolve) => door.close(resolve));
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
};
