import type { Clock, Kube, KubeRequest, KubeResponse } from '../ports/index.ts';
import { discoveryOf } from './discovery.ts';
import { entryText, type Form } from './entry.ts';
import { followExchange, untilAborted } from './exchange.ts';
import {
  create,
  findEntry,
  missingPart,
  removeAll,
  type WriteHost,
  type WriteInput,
  writeTarget,
} from './handle-write.ts';
import { simKinds } from './kinds.ts';
import type { SimKind } from './kind.ts';
import { listText } from './list.ts';
import { formAccepted } from './negotiate.ts';
import { createOrigin } from './origin.ts';
import { createSeededRandom } from './random.ts';
import { isWatch, type ListOptions, listOptions, parseResourceVersion, type Query } from './read-options.ts';
import { createCatalog, type Route, routeOf } from './route.ts';
import { checkScalable, scaleOf } from './scale.ts';
import { methodNotAllowed, StatusError, tooLargeResourceVersion, unknownResource } from './status.ts';
import { createStorage } from './storage.ts';
import { createStore, type SimStore } from './store.ts';
import { bodyOf } from './stream.ts';
import { formatHttpDate } from './time.ts';
import { openWatch, type WatchHost } from './watch.ts';

export interface SimApiServerOptions {
  readonly clock: Clock;
  /** Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[];
  /** Decides UIDs, generated names and the length of watches. Default 0. */
  readonly seed?: number | string;
  /** Namespaces that are there from the start. Default: those of a real server. */
  readonly namespaces?: readonly string[];
  /** Changes of each kind that are kept for watches and pages of the past. Default 5000. */
  readonly historyEvents?: number;
}

/** A Kubernetes API server in memory: requests in, answers out, objects in a store. */
export interface SimApiServer extends Kube {
  readonly store: SimStore;
  /** How far ahead of the clock this server's wall clock is (`Date` header, timestamps), in milliseconds. */
  setClockSkew(ms: number): void;
}

const defaultNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
/** How long a read waits for a resourceVersion that is not there yet; `blockTimeout` in k8s.io/apiserver's watch cache. */
const freshnessTimeoutMs = 3_000;

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

const textOf = (body: string | Uint8Array | undefined): string =>
  body === undefined ? '' : typeof body === 'string' ? body : Buffer.from(body).toString();

const headerOf = (request: KubeRequest, name: string): string | undefined => {
  for (const [key, value] of Object.entries(request.headers ?? {})) if (key.toLowerCase() === name) return value;
  return undefined;
};

const nowhere: Reply = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  text: '404 page not found\n',
};

const errorReply = (error: unknown): Reply => {
  if (!(error instanceof StatusError)) throw error;
  const { status } = error;
  const retryAfter = status.details?.retryAfterSeconds;
  return {
    status: status.code ?? 500,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } }),
    text: JSON.stringify(status),
  };
};

/**
 * An embedded Kubernetes API server. It is a `Kube` itself, and so an in-memory transport: deadlines and aborts hold as they do on a
 * network. A write is done by the time `request` returns its promise; time passes on `clock` only.
 */
export const createSimApiServer = (options: SimApiServerOptions): SimApiServer => {
  const {
    clock,
    kinds = Object.values(simKinds),
    seed = 0,
    namespaces = defaultNamespaces,
    historyEvents = 5000,
  } = options;
  let skewMs = 0;
  const random = createSeededRandom(seed);
  const catalog = createCatalog(kinds);
  const storage = createStorage(historyEvents);
  const origin = createOrigin({ random: random.fork('origin'), now: () => clock.now() + skewMs });
  const writing: WriteHost = { storage, origin };
  const watching: WatchHost = { storage, clock, random: random.fork('watch') };
  const store = createStore(storage, origin);
  for (const name of namespaces) store.put(simKinds.Namespace, { metadata: { name } });

  const respond = (reply: Omit<Reply, 'text'>, body: AsyncIterable<Uint8Array>): KubeResponse => ({
    status: reply.status,
    headers: {
      'content-type': 'application/json',
      date: formatHttpDate(clock.now() + skewMs),
      ...reply.headers,
    },
    body,
  });

  const whole = (reply: Reply): KubeResponse => respond(reply, bodyOf(Buffer.from(reply.text)));

  /** Waits until the store is at `revision`, for three seconds at most. */
  const whenFresh = async (request: KubeRequest, revision: number): Promise<void> => {
    if (revision <= storage.revision) return;
    const exchange = followExchange(clock, request);
    try {
      await untilAborted(exchange.signal, clock.sleep(freshnessTimeoutMs, exchange.signal));
    } finally {
      exchange.finish();
    }
    if (revision > storage.revision) throw tooLargeResourceVersion(revision, storage.revision);
  };

  const readObject = async (request: KubeRequest, route: Route & { type: 'object' }, form: Form): Promise<Reply> => {
    const { kind, subresource } = route;
    await whenFresh(request, parseResourceVersion(request.query?.resourceVersion) ?? 0);
    if (subresource === 'scale' && kind.scale !== undefined) {
      const entry = findEntry(storage, route);
      checkScalable(entry, kind.scale);
      return { status: 200, text: JSON.stringify(scaleOf(entry, kind.scale)) };
    }
    if (subresource !== undefined && !(subresource === 'status' && kind.status)) throw missingPart(kind, route.name);
    return { status: 200, text: entryText(findEntry(storage, route), form) };
  };

  const watch = (
    request: KubeRequest,
    route: Route & { type: 'collection' },
    selected: { options: ListOptions; form: Form },
  ): KubeResponse => {
    const body = openWatch(watching, { ...route, ...selected }, followExchange(clock, request));
    return respond({ status: 200 }, body);
  };

  const inputOf = (request: KubeRequest, form: Form): WriteInput => ({
    method: request.method === 'GET' ? 'POST' : request.method,
    contentType: headerOf(request, 'content-type'),
    body: textOf(request.body),
    query: request.query ?? {},
    form,
  });

  const onCollection = async (
    request: KubeRequest,
    route: Route & { type: 'collection' },
    form: Form,
  ): Promise<KubeResponse> => {
    const { kind, namespace } = route;
    const query: Query = request.query ?? {};
    if (request.method === 'POST') {
      if (kind.namespaced && namespace === undefined) throw methodNotAllowed();
      const written = create(writing, { kind, namespace: namespace ?? '' }, inputOf(request, form));
      return whole(written);
    }
    if (request.method === 'PUT' || request.method === 'PATCH') throw methodNotAllowed();
    if (request.method === 'DELETE' && kind.namespaced && namespace === undefined) throw methodNotAllowed();
    const selected = { options: listOptions(kind, query), form };
    if (request.method === 'GET' && isWatch(query)) return watch(request, route, selected);
    await whenFresh(request, selected.options.resourceVersion ?? 0);
    const text = listText(storage, { ...route, ...selected });
    if (request.method === 'DELETE') {
      const { selection } = selected.options;
      const entries = storage
        .collection(kind)
        .list(namespace)
        .filter((entry) => selection.matches(entry.object));
      removeAll(writing, entries, inputOf(request, form));
    }
    return whole({ status: 200, text });
  };

  const answer = async (request: KubeRequest): Promise<KubeResponse> => {
    const route = routeOf(catalog, request.path);
    if (route.type === 'nowhere') return whole(nowhere);
    if (route.type === 'unknown') throw unknownResource();
    const custom = 'kind' in route && route.kind.custom;
    const form = formAccepted(headerOf(request, 'accept'), custom);
    if (route.type === 'collection') return onCollection(request, route, form);
    if (route.type === 'object') {
      if (request.method === 'GET') return whole(await readObject(request, route, form));
      return whole(writeTarget(writing, route, inputOf(request, form)));
    }
    if (request.method !== 'GET') throw methodNotAllowed();
    if (route.type === 'health') {
      return whole({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, text: 'ok' });
    }
    return whole({ status: 200, text: JSON.stringify(discoveryOf(catalog, route)) });
  };

  return {
    store,
    setClockSkew(ms) {
      skewMs = ms;
    },
    async request(request) {
      request.signal.throwIfAborted();
      try {
        return await answer(request);
      } catch (error) {
        return whole(errorReply(error));
      }
    },
  };
};
