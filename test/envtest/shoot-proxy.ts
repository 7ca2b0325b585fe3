import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Certificate } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';

/** A response as it is sent to the prober. */
export interface ProxyResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Returns the response for the prober, perhaps that of the API server, which `ask` asks. If it rejects, the connection breaks. */
type RequestInterceptor = (ask: () => Promise<ProxyResponse>) => Promise<ProxyResponse>;

const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'host'];

/** Returns the headers that a proxy passes on, without the one that it replaces itself. */
export const endToEnd = (
  headers: IncomingHttpHeaders,
  replaced: 'authorization' | 'content-length',
): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== replaced && !hopByHop.includes(name)));

/** A proxy between the prober and a shoot's API server. It passes credentials on. */
export interface ShootProxy {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port, whose responses are those of `intercept`. */
export const startShootProxy = async (
  shoot: ControlPlane,
  { certificatePem: cert, keyPem: key }: Certificate,
  intercept: RequestInterceptor,
): Promise<ShootProxy> => {
  // Shorter than the API server's idle timeout, so that the API server never closes a connection that is about to be used.
  const agent = new Agent({ keepAlive: true, timeout: 30_000, ca: shoot.caPem });
  const ask = async ({ url, headers }: IncomingMessage): Promise<ProxyResponse> => {
    const { host, port } = shoot;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const passedOn = endToEnd(headers, 'content-length');
      const outgoing = httpsRequest({ host, port, agent, path: url ?? '/', headers: passedOn });
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
      outgoing.end();
    });
    return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { status, headers, body } = await intercept(() => ask(request));
      response.writeHead(status, { ...endToEnd(headers, 'content-length'), 'content-length': body.length }).end(body);
    } catch {
      request.socket.destroy();
    }
  };
  const server = createServer({ cert, key }, (request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
};
