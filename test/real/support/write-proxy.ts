import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, type Server, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { RbacRule } from '../../envtest/access.ts';
import { createAuthority } from '../../envtest/certificates.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { kubeconfigText } from '../../envtest/kubeconfig.ts';
import { endToEnd } from '../../envtest/shoot-proxy.ts';

/** A PATCH of the program under test. It writes its dependent resources only with PATCH. */
export interface ProxiedWrite {
  /** Path without the query. */
  readonly path: string;
  readonly body: unknown;
  /** Status of the API server's response. Absent if the write was not forwarded. */
  status?: number;
}

/** Faults of writes between the program and the API server. */
export interface WriteFault {
  /** Called right before the write is forwarded. `drop`: it never arrives, and its connection is cut. */
  before?(write: ProxiedWrite): Promise<'forward' | 'drop'>;
  /** Called after the API server's response. `cut`: the response never arrives, and the connection is cut. */
  after?(write: ProxiedWrite): Promise<'answer' | 'cut'>;
}

export interface ProxyOptions {
  /** User of all requests to the seed, whatever the program's credentials are. */
  readonly user: string;
  readonly rules: readonly RbacRule[];
  /** Hides all other Clusters of the seed, so that several programs can work in one seed. */
  readonly onlyClusters?: { readonly fieldSelector: string } | { readonly labelSelector: string };
}

/** The API server behind the proxy, and the connections to it. */
interface Upstream {
  readonly seed: ControlPlane;
  readonly agent: Agent;
  readonly onlyClusters: ProxyOptions['onlyClusters'];
}

const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
const pathOf = (request: IncomingMessage): string => new URL(request.url ?? '/', 'https://seed').pathname;

const narrowed = (url: string, selector: ProxyOptions['onlyClusters']): string => {
  const { pathname, searchParams } = new URL(url, 'https://seed');
  if (selector === undefined || pathname !== clusters) return url;
  for (const [name, value] of Object.entries(selector)) searchParams.set(name, value);
  return `${pathname}?${searchParams.toString()}`;
};

/**
 * A proxy between one program and the seed's API server, with its own certificate. It streams watches, and handles PATCH requests, with which the
 * program writes its dependent resources, one by one.
 */
export class WriteProxy {
  /** Text of a kubeconfig for the seed through this proxy. */
  readonly kubeconfig: string;
  /** All writes since the start, in the order of their arrival. */
  readonly writes: ProxiedWrite[] = [];
  readonly #upstream: Upstream;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  #fault: WriteFault | undefined;
  #isCutOff = false;

  private constructor(upstream: Upstream, server: Server, kubeconfig: string) {
    this.#upstream = upstream;
    this.#server = server;
    this.kubeconfig = kubeconfig;
    server.on('request', (request, response) => void this.#handle(request, response));
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** Creates the user with its rights, and listens on a free port. */
  static async start(seed: ControlPlane, options: ProxyOptions): Promise<WriteProxy> {
    await seed.kubeconfigFor({ user: options.user, rules: options.rules });
    const { certificatePem: cert, keyPem: key } = await seed.authority.issueClient({ user: options.user });
    const authority = await createAuthority('proxy-ca');
    const serving = await authority.issueServer(['127.0.0.1']);
    // Shorter than the API server's idle timeout, so that the API server never closes a connection that is about to be used.
    const agent = new Agent({ keepAlive: true, timeout: 30_000, ca: seed.caPem, cert, key });
    const server = createServer({ cert: serving.certificatePem, key: serving.keyPem });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const kubeconfig = kubeconfigText({
      name: 'seed',
      server: `https://127.0.0.1:${String(port)}`,
      caPem: authority.caPem,
      user: options.user,
      credentials: { token: 'replaced-by-the-proxy' },
    });
    return new WriteProxy({ seed, agent, onlyClusters: options.onlyClusters }, server, kubeconfig);
  }

  setFault(fault: WriteFault | undefined): void {
    this.#fault = fault;
  }

  /** Breaks all connections, including watches. */
  #breakConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts the program off: connections stay open, and no bytes pass. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  heal(): void {
    this.#isCutOff = false;
    this.#breakConnections();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#breakConnections();
    this.#upstream.agent.destroy();
    await closed;
  }

  #accept(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await buffer(request);
      if (this.#isCutOff) return;
      if (request.method === 'PATCH') await this.#forwardWrite(request, body, response);
      else this.#stream(await this.#open(request, body, response), response);
    } catch {
      // One of the two connections broke: break the other one, so that its end notices.
      request.socket.destroy();
    }
  }

  async #forwardWrite(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const write: ProxiedWrite = { path: pathOf(request), body: JSON.parse(body.toString()) as unknown };
    this.writes.push(write);
    const fault = this.#fault;
    if ((await fault?.before?.(write)) === 'drop') {
      request.socket.destroy();
      return;
    }
    const upstream = await this.#open(request, body, response);
    const text = await buffer(upstream);
    write.status = upstream.statusCode ?? 0;
    const fate = await fault?.after?.(write);
    if (this.#isCutOff) return;
    if (fate === 'cut') request.socket.destroy();
    else response.writeHead(write.status, endToEnd(upstream.headers, 'authorization')).end(text);
  }

  #open(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<IncomingMessage> {
    const { seed, agent, onlyClusters } = this.#upstream;
    return new Promise((resolve, reject) => {
      const { method, headers } = request;
      const path = narrowed(request.url ?? '/', onlyClusters);
      const { host, port } = seed;
      const outgoing = httpsRequest({ host, port, agent, method, path, headers: endToEnd(headers, 'authorization') });
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
      // A forwarded write takes effect even if the program no longer waits for the response.
      if (method === 'GET') response.once('close', () => outgoing.destroy());
      outgoing.end(body);
    });
  }

  #stream(from: IncomingMessage, to: ServerResponse): void {
    to.writeHead(from.statusCode ?? 502, endToEnd(from.headers, 'authorization'));
    to.flushHeaders();
    from.on('data', (chunk: Buffer) => {
      if (!this.#isCutOff) to.write(chunk);
    });
    from.once('end', () => !this.#isCutOff && to.end());
    from.once('error', () => to.destroy());
  }
}
