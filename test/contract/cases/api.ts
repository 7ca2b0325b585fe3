import { buffer } from 'node:stream/consumers';
import { type SimKind, apiVersionOf } from '../../../simulator/apiserver/kind.ts';
import type { JsonMap } from '../../../simulator/apiserver/object.ts';
import type { Kube, KubeRequest } from '../../../src/kubernetes/api/kube.ts';
import { type Json, parseJson } from './json.ts';
import { type WatchReader, openWatch } from './watcher.ts';

/** A server under test, with admin rights, and a namespace for this case alone. */
export interface ContractTarget {
  readonly kube: Kube;
  /** An empty namespace. Its name may also prefix the names of cluster-scoped objects. */
  readonly namespace: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The parsed body; an empty object if the body is not JSON. */
  readonly json: Json;
}

export interface SendInit {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
}

/** The requests of a case. A path is a result of `at` or any other text. */
export interface Api {
  readonly namespace: string;
  /** Returns the path of a kind's collection, object or subresource in the case's namespace. */
  at(kind: SimKind, name?: string, subresource?: string): string;
  send(method: KubeRequest['method'], path: string, init?: SendInit): Promise<Reply>;
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Reply>;
  create(path: string, body: unknown): Promise<Reply>;
  put(path: string, body: unknown): Promise<Reply>;
  /** Sends a JSON merge patch. */
  patch(path: string, body: unknown): Promise<Reply>;
  remove(path: string, body?: unknown): Promise<Reply>;
  watch(path: string, query?: Readonly<Record<string, string>>): Promise<WatchReader>;
}

/** A request that stalls for longer fails the case. */
const timeoutMs = 30_000;

const pathOf = (kind: SimKind, namespace: string): string => {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${apiVersionOf(kind)}`;
  return kind.namespaced ? `${root}/namespaces/${namespace}/${kind.resource}` : `${root}/${kind.resource}`;
};

export const createApi = ({ kube, namespace }: ContractTarget): Api => {
  const send: Api['send'] = async (method, path, init = {}) => {
    const { query, body, accept = 'application/json', contentType = 'application/json' } = init;
    const response = await kube.request({
      method,
      path,
      headers: { accept, ...(body === undefined ? {} : { 'content-type': contentType }) },
      query,
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs,
      signal: new AbortController().signal,
    });
    const bytes = await buffer(response.body);
    const text = bytes.toString();
    return { status: response.status, headers: response.headers, bytes, text, json: parseJson(text) };
  };

  return {
    namespace,
    at: (kind, ...rest) => [pathOf(kind, namespace), ...rest].join('/'),
    send,
    get: (path, query = {}) => send('GET', path, { query }),
    create: (path, body) => send('POST', path, { body }),
    put: (path, body) => send('PUT', path, { body }),
    patch: (path, body) => send('PATCH', path, { body, contentType: 'application/merge-patch+json' }),
    remove: (path, body) => send('DELETE', path, { body }),
    watch: (path, query = {}) => openWatch(kube, path, query),
  };
};

/** Adds apiVersion and kind to an object: custom kinds require them. */
export const typed = (kind: SimKind, object: Readonly<JsonMap>): JsonMap => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  ...object,
});
