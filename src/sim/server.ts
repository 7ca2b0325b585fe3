import type { Clock, Kube, KubeRequest, KubeResponse } from '../ports/index.ts';
import { discoveryOf } from './discovery.ts';
import { followExchange } from './exchange.ts';
import type { Form } from './entry.ts';
import { type ReadHost, readList, readObject } from './handle-read.ts';
import { create, type WriteHost, type WriteInput, writeTarget } from './handle-write.ts';
import type { SimKind } from './kind.ts';
import { simKinds } from './kinds.ts';
import { hasProtobuf } from './kube-protobuf.ts';
import { formAccepted } from './negotiate.ts';
import { createOrigin } from './origin.ts';
import { createSeededRandom } from './random.ts';
import { isWatch, listOptions, refuseUnsimulated } from './read-options.ts';
import { errorReply, headerOf, healthReply, jsonReply, nowhereReply, type ProtobufReply, type Reply } from './reply.ts';
import { createCatalog, type Route, routeOf } from './route.ts';
import { methodNotAllowed, unknownResource } from './status.ts';
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

/** Reads of objects and lists; watches come in JSON only. */
const isInProtobuf = ({ method, query }: KubeRequest, route: Route): boolean => {
  if (method !== 'GET' || isWatch(query ?? {})) return false;
  if (route.type === 'object') return route.subresource === undefined && hasProtobuf(route.kind);
  return route.type === 'collection' && hasProtobuf(route.kind);
};

type CollectionRoute = Extract<Route, { type: 'collection' }>;

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
  const now = (): number => clock.now() + skewMs;
  const origin = createOrigin({ random: random.fork('origin'), now });
  const hosts: ReadHost & WriteHost & WatchHost = { storage, clock, origin, random: random.fork('watch') };
  const store = createStore(storage, origin);
  for (const name of namespaces) store.put(simKinds.Namespace, { metadata: { name } });
  // As on a real server, which has a past by the time anybody can ask: versions of before its start are too old to watch from.
  storage.compact(storage.revision);

  const respond = (reply: Omit<Reply, 'text'>, body: AsyncIterable<Uint8Array>): KubeResponse => ({
    status: reply.status,
    headers: {
      'content-type': 'application/json',
      date: formatHttpDate(now()),
      ...reply.headers,
    },
    body,
  });

  const whole = (reply: Reply | ProtobufReply): KubeResponse =>
    respond(reply, bodyOf('bytes' in reply ? reply.bytes : Buffer.from(reply.text)));

  const inputOf = (request: KubeRequest, view: Form): WriteInput => ({
    method: request.method === 'GET' ? 'POST' : request.method,
    contentType: headerOf(request, 'content-type'),
    body: request.body ?? '',
    view,
  });

  const read = async (request: KubeRequest, target: CollectionRoute, view: Form): Promise<KubeResponse> => {
    const query = request.query ?? {};
    const options = listOptions(target.kind, query);
    if (!isWatch(query)) return whole(await readList(hosts, request, { target, options, view }));
    return respond({ status: 200 }, openWatch(hosts, { ...target, options, view }, followExchange(clock, request)));
  };

  const onCollection = async (request: KubeRequest, route: CollectionRoute, view: Form): Promise<KubeResponse> => {
    const { kind, namespace = '' } = route;
    if (request.method === 'GET') return read(request, route, view);
    if (kind.namespaced && namespace === '') throw methodNotAllowed();
    if (request.method !== 'POST') throw methodNotAllowed();
    return whole(create(hosts, { kind, namespace }, inputOf(request, view)));
  };

  const answer = async (request: KubeRequest): Promise<KubeResponse> => {
    refuseUnsimulated(request.query ?? {});
    const route = routeOf(catalog, request.path);
    if (route.type === 'nowhere') return whole(nowhereReply);
    if (route.type === 'unknown') throw unknownResource();
    const view = formAccepted(headerOf(request, 'accept'), {
      custom: 'kind' in route && route.kind.custom,
      protobuf: isInProtobuf(request, route),
    });
    if (route.type === 'collection') return onCollection(request, route, view);
    if (route.type === 'object') {
      if (request.method === 'GET') return whole(await readObject(hosts, request, { target: route, view }));
      return whole(writeTarget(hosts, route, inputOf(request, view)));
    }
    if (request.method !== 'GET') throw methodNotAllowed();
    return whole(route.type === 'health' ? healthReply : jsonReply(JSON.stringify(discoveryOf(catalog, route))));
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
