import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { RbacRule } from '../../envtest/access.ts';
import { createAuthority } from '../../envtest/certificates.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { kubeconfigText } from '../../envtest/kubeconfig.ts';

/** A PATCH of the program under test, which is how it writes its dependent resources. */
export interface ProxiedWrite {
  /** Without the query. */
  readonly path: string;
  readonly body: unknown;
  /** Of the API server's answer; absent when it was not forwarded. */
  status?: number;
}

/** What happens to writes on their way. */
export interface WriteFault {
  /** Right before the write is forwarded. `drop`: it never arrives, and its connection is cut. */
  before?(write: ProxiedWrite): Promise<'forward' | 'drop'>;
  /** When the API server has answered. `cut`: the answer never arrives, and the connection is cut. */
  after?(write: ProxiedWrite): Promise<'answer' | 'cut'>;
}

export interface ProxyOptions {
  /** As whom requests reach the seed, whatever credentials the program shows. */
  readonly user: string;
  readonly rules: readonly RbacRule[];
  /** Makes the seed look as if these were its only Clusters, so that several programs can work in one seed. */
  readonly onlyClusters?: { readonly fieldSelector: string } | { readonly labelSelector: string };
}

/** What is answered in the API server's place. */
export interface ProxyRefusal {
  readonly status: number;
  readonly retryAfter?: number;
}

/** A proxy between one program and the seed's API server, with a certificate of its own; watches pass as streams. */
export interface WriteProxy {
  /** Text of a kubeconfig that leads to the seed through this proxy. */
  readonly kubeconfig: string;
  /** All writes since the start, in the order of their arrival. */
  readonly writes: readonly ProxiedWrite[];
  setFault(fault: WriteFault | undefined): void;
  /** Asked for each request, by method and path without query; what it refuses does not reach the API server. */
  refuseWhere(refuse: (method: string, path: string) => ProxyRefusal | undefined): void;
  /** Breaks all connections, watches too. */
  breakConnections(): void;
  /** `refuse`: connections break at once, as with a rejecting firewall; `swallow`: they stay open, and nothing passes in either direction. */
  cutOff(how: 'refuse' | 'swallow'): void;
  heal(): void;
  stop(): Promise<void>;
}

const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'authorization', 'host']);

const endToEnd = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));

const narrowed = (url: string, selector: ProxyOptions['onlyClusters']): string => {
  const { pathname, searchParams } = new URL(url, 'https://seed');
  if (selector === undefined || pathname !== clusters) return url;
  for (const [name, value] of Object.entries(selector)) searchParams.set(name, value);
  return `${pathname}?${searchParams.toString()}`;
};

const refuse = (response: ServerResponse, { status, retryAfter }: ProxyRefusal): void => {
  const headers = { 'content-type': 'application/json' };
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'refused by the proxy', code: status };
  response.writeHead(status, retryAfter === undefined ? headers : { ...headers, 'retry-after': String(retryAfter) });
  response.end(JSON.stringify(body));
};

export const startWriteProxy = async (seed: ControlPlane, options: ProxyOptions): Promise<WriteProxy> => {
  await seed.kubeconfigFor({ user: options.user, rules: options.rules });
  const { certificatePem, keyPem } = await seed.authority.issueClient({ user: options.user });
  const authority = await createAuthority('proxy-ca');
  const serving = await authority.issueServer(['127.0.0.1']);
  // Below the API server's own limit, so that it never closes a connection that is about to be used.
  const agent = new Agent({ keepAlive: true, timeout: 30_000, ca: seed.caPem, cert: certificatePem, key: keyPem });
  const writes: ProxiedWrite[] = [];
  const sockets = new Set<Duplex>();
  let fault: WriteFault | undefined;
  let refusalOf: Parameters<WriteProxy['refuseWhere']>[0] = () => undefined;
  let passing: 'all' | 'refuse' | 'swallow' = 'all';

  const answer = (from: IncomingMessage, to: ServerResponse): void => {
    to.writeHead(from.statusCode ?? 502, endToEnd(from.headers));
    to.flushHeaders();
    from.on('data', (chunk: Buffer) => {
      if (passing === 'all') to.write(chunk);
    });
    from.once('end', () => passing === 'all' && to.end());
    from.once('error', () => to.destroy());
  };

  const open = (request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method, headers } = request;
      const path = narrowed(request.url ?? '/', options.onlyClusters);
      const { host, port } = seed;
      const outgoing = httpsRequest({ host, port, agent, method, path, headers: endToEnd(headers) });
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
      // A write that was forwarded lands whether or not somebody waits for the answer.
      if (method === 'GET') response.once('close', () => outgoing.destroy());
      outgoing.end(body);
    });

  const forwardWrite = async (request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'https://seed');
    const write: ProxiedWrite = { path: pathname, body: JSON.parse(body.toString()) as unknown };
    writes.push(write);
    const current = fault;
    if ((await current?.before?.(write)) === 'drop') {
      request.socket.destroy();
      return;
    }
    const opened = await open(request, body, response);
    const text = await buffer(opened);
    write.status = opened.statusCode ?? 0;
    const fate = await current?.after?.(write);
    if (passing !== 'all') return;
    if (fate === 'cut') request.socket.destroy();
    else response.writeHead(write.status, endToEnd(opened.headers)).end(text);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const body = await buffer(request);
      if (passing !== 'all') return;
      const refusal = refusalOf(request.method ?? '', new URL(request.url ?? '/', 'https://seed').pathname);
      if (refusal !== undefined) refuse(response, refusal);
      else if (request.method === 'PATCH') await forwardWrite(request, body, response);
      else answer(await open(request, body, response), response);
    } catch {
      // One of the two ends has gone: the other hears of it the same way.
      request.socket.destroy();
    }
  };

  const server = createServer({ cert: serving.certificatePem, key: serving.keyPem });
  server.on('request', (request, response) => void handle(request, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (passing === 'refuse') socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const breakConnections = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    kubeconfig: kubeconfigText({
      name: 'seed',
      server: `https://127.0.0.1:${String(port)}`,
      caPem: authority.caPem,
      user: options.user,
      credentials: { token: 'replaced-by-the-proxy' },
    }),
    writes,
    setFault: (next) => {
      fault = next;
    },
    refuseWhere: (next) => {
      refusalOf = next;
    },
    breakConnections,
    cutOff: (how) => {
      passing = how;
      if (how === 'refuse') breakConnections();
    },
    heal: () => {
      passing = 'all';
      breakConnections();
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      breakConnections();
      agent.destroy();
      await closed;
    },
  };
};
