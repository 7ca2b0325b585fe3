import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { createSeededRandom } from '../time/index.ts';
import { discoveryOf } from './discovery.ts';
import { followExchange } from './exchange.ts';
import { readList, readObject } from './handle-read.ts';
import { type WriteHost, type WriteInput, create, writeTarget } from './handle-write.ts';
import type { SimKind } from './kind.ts';
import { simKinds } from './kinds.ts';
import { hasProtobuf } from './kube-protobuf.ts';
import { prefersProtobuf } from './negotiate.ts';
import { createOrigin } from './origin.ts';
import { isWatch, listOptions, refuseUnsimulated } from './read-options.ts';
import { type ProtobufReply, type Reply, errorReply, headerOf, healthReply, jsonReply, nowhereReply } from './reply.ts';
import { type Route, createCatalog, routeOf } from './route.ts';
import { methodNotAllowed, unknownResource } from './status.ts';
import { createStorage } from './storage.ts';
import { type SimStore, createStore } from './store.ts';
import { bodyOf } from './stream.ts';
import { formatHttpDate } from './time.ts';
import { type WatchHost, openWatch } from './watch.ts';

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

const isInProtobuf = (request: KubeRequest, { kind }: { readonly kind: SimKind }): boolean =>
  hasProtobuf(kind) && prefersProtobuf(headerOf(request, 'accept'));

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
  const hosts: WriteHost & WatchHost = { storage, clock, origin, random: random.fork('watch') };
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

  const inputOf = (request: KubeRequest): WriteInput => ({
    method: request.method === 'GET' ? 'POST' : request.method,
    contentType: headerOf(request, 'content-type'),
    body: request.body ?? '',
  });

  const read = (request: KubeRequest, target: CollectionRoute): KubeResponse => {
    const query = request.query ?? {};
    const options = listOptions(query);
    if (isWatch(query)) {
      return respond({ status: 200 }, openWatch(hosts, { ...target, options }, followExchange(clock, request)));
    }
    return whole(readList(storage, { ...target, options, protobuf: isInProtobuf(request, target) }));
  };

  const onCollection = (request: KubeRequest, route: CollectionRoute): KubeResponse => {
    const { kind, namespace = '' } = route;
    if (request.method === 'GET') return read(request, route);
    if (request.method !== 'POST' || (kind.namespaced && namespace === '')) throw methodNotAllowed();
    return whole(create(hosts, { kind, namespace }, inputOf(request)));
  };

  const answer = (request: KubeRequest): KubeResponse => {
    refuseUnsimulated(request.query ?? {});
    const route = routeOf(catalog, request.path);
    if (route.type === 'nowhere') return whole(nowhereReply);
    if (route.type === 'unknown') throw unknownResource();
    if (route.type === 'collection') return onCollection(request, route);
    if (route.type === 'object') {
      if (request.method === 'GET') return whole(readObject(storage, route, isInProtobuf(request, route)));
      return whole(writeTarget(hosts, route, inputOf(request)));
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
        return answer(request);
      } catch (error) {
        return whole(errorReply(error));
      }
    },
  };
};
