import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

export interface ClientOptions {
  readonly host: string;
  readonly port: number;
  readonly caPem: string;
  readonly certificatePem?: string;
  readonly keyPem?: string;
  readonly token?: string;
}

export interface Request {
  readonly method: string;
  /** Path and query, such as `/api/v1/nodes?limit=1`. */
  readonly path: string;
  readonly body?: unknown;
  /** By default `application/json`. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

export interface ApiReply {
  readonly status: number;
  /** The parsed JSON, or the text if the body is not JSON. */
  readonly body: unknown;
}

/**
 * A small client that arranges and checks objects in tests. It is not the client under test: no retries, no watches. A verb throws
 * if the status is not 2xx; `request` throws only if there is no response.
 */
export interface TestClient {
  readonly request: (request: Request) => Promise<ApiReply>;
  readonly get: <T = unknown>(path: string) => Promise<T>;
  /** Returns the items of a list, without paging. */
  readonly list: <T = unknown>(path: string) => Promise<readonly T[]>;
  /** Sends a POST to the collection's path. */
  readonly create: <T = unknown>(path: string, body: unknown) => Promise<T>;
  /** Sends a JSON merge patch. The path may end in `/status`. */
  readonly patch: <T = unknown>(path: string, body: unknown) => Promise<T>;
  /** Creates or updates an object by server-side apply with force. `body` needs apiVersion, kind and metadata.name. */
  readonly apply: <T = unknown>(path: string, body: unknown) => Promise<T>;
  /** Deletes an object. It is no error if the object does not exist. */
  readonly delete: (path: string) => Promise<void>;
  /** Closes idle connections, which is necessary when the server stops. The client stays usable. */
  readonly disconnect: () => void;
}

export function createTestClient(options: ClientOptions): TestClient {
  const agent = new Agent({
    keepAlive: true,
    // Shorter than the server's idle timeout, so that the server never closes a connection that is about to be used.
    timeout: 30_000,
    ca: options.caPem,
    cert: options.certificatePem,
    key: options.keyPem,
  });
  const target: Target = { ...options, agent };
  const verb = async (request: Request, allowed = 200): Promise<unknown> => {
    const reply = await send(target, request);
    if (reply.status < 300 || reply.status === allowed) return reply.body;
    throw new Error(`${request.method} ${request.path}: ${String(reply.status)} ${messageOf(reply.body)}`);
  };
  return {
    request: (request) => send(target, request),
    get: (path) => verb({ method: 'GET', path }) as Promise<never>,
    list: async (path) => ((await verb({ method: 'GET', path })) as { items: never[] }).items,
    create: (path, body) => verb({ method: 'POST', path, body }) as Promise<never>,
    patch: (path, body) =>
      verb({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }) as Promise<never>,
    apply: (path, body) =>
      verb({
        method: 'PATCH',
        path: `${path}?fieldManager=envtest&force=true`,
        body,
        contentType: 'application/apply-patch+yaml',
      }) as Promise<never>,
    delete: async (path) => {
      await verb({ method: 'DELETE', path }, 404);
    },
    disconnect: () => agent.destroy(),
  };
}

interface Target extends ClientOptions {
  readonly agent: Agent;
}

function send(target: Target, request: Request): Promise<ApiReply> {
  const payload = request.body === undefined ? undefined : JSON.stringify(request.body);
  const headers = {
    accept: 'application/json',
    ...(payload !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
    ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
  };
  const { host, port, agent } = target;
  const { method, path, signal } = request;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({ host, port, agent, method, path, headers, ...(signal && { signal }) });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const reply = (body: string) => ({ status: response.statusCode ?? 0, body: parse(body) });
      text(response).then((body) => resolve(reply(body)), reject);
    });
    outgoing.end(payload);
  });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function messageOf(body: unknown): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : body;
  return typeof message === 'string' ? message : JSON.stringify(message);
}
