import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { createSeededRandom } from '../time/index.ts';
import { discoveryOf } from './discovery.ts';
import { followExchange } from './exchange.ts';
import { readObject } from './handle-read.ts';
import { type WriteHost, type WriteInput, create, writeTarget } from './handle-write.ts';
import type { SimKind } from './kind.ts';
import { simKinds } from './kinds.ts';
import { hasProtobuf, protobufMediaType } from './kube-protobuf.ts';
import { readList } from './list.ts';
import { createOrigin } from './origin.ts';
import { isWatch, listOptions, refuseUnsimulated } from './read-options.ts';
import { type WholeReply, errorReply, headerOf, healthReply, jsonReply, nowhereReply } from './reply.ts';
import { type Catalog, type Route, createCatalog, routeOf } from './route.ts';
import { methodNotAllowed, unknownResource } from './status.ts';
import { Storage } from './storage.ts';
import { SimStore } from './store.ts';
import { bodyOf } from './stream.ts';
import { formatHttpDate } from './time.ts';
import { type WatchHost, openWatch } from './watch.ts';

export interface SimApiServerOptions {
  readonly clock: Clock;
  /** Served kinds. Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[];
  /** Seed of UIDs, generated names and the length of watches. Default 0. */
  readonly seed?: number | string;
  /** Namespaces that exist from the start. Default: those of a real server. */
  readonly namespaces?: readonly string[];
  /** Number of changes per kind that are kept for watches and pages of older revisions. Default 5000. */
  readonly historyEvents?: number;
}

/** A Kubernetes API server in memory: a `Kube` whose objects are in `store`. */
export interface SimApiServer extends Kube {
  readonly store: SimStore;
  /** Sets how far this server's wall clock (`Date` header, timestamps) is ahead of the clock, in milliseconds. */
  setClockSkew(ms: number): void;
  /** False: a changed field keeps the first time in `managedFields`. */
  setStamping(isOn: boolean): void;
}

const defaultNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** True if an Accept header prefers protobuf. All other formats, such as Tables or metadata only, get plain JSON. */
const isInProtobuf = (request: KubeRequest, { kind }: { readonly kind: SimKind }): boolean =>
  hasProtobuf(kind) && headerOf(request, 'accept')?.split(',')[0]?.trim().toLowerCase() === protobufMediaType;

type CollectionRoute = Extract<Route, { type: 'collection' }>;

const inputOf = (request: KubeRequest): WriteInput => ({
  method: request.method === 'GET' ? 'POST' : request.method,
  contentType: headerOf(request, 'content-type'),
  body: request.body ?? '',
});

class RequestHandler {
  readonly #hosts: WriteHost & WatchHost;
  readonly #catalog: Catalog;
  /** The server's wall clock, in milliseconds since the epoch. */
  readonly #now: () => number;

  constructor(hosts: WriteHost & WatchHost, kinds: readonly SimKind[], now: () => number) {
    this.#hosts = hosts;
    this.#catalog = createCatalog(kinds);
    this.#now = now;
  }

  answer(request: KubeRequest): KubeResponse {
    try {
      return this.#route(request, routeOf(this.#catalog, request.path));
    } catch (error) {
      return this.#whole(errorReply(error));
    }
  }

  #route(request: KubeRequest, route: Route): KubeResponse {
    refuseUnsimulated(request.query ?? {});
    if (route.type === 'nowhere') return this.#whole(nowhereReply);
    if (route.type === 'unknown') throw unknownResource();
    if (route.type === 'collection') return this.#collection(request, route);
    if (route.type === 'object') {
      if (request.method !== 'GET') return this.#whole(writeTarget(this.#hosts, route, inputOf(request)));
      return this.#whole(readObject(this.#hosts.storage, route));
    }
    if (request.method !== 'GET') throw methodNotAllowed();
    if (route.type === 'health') return this.#whole(healthReply);
    return this.#whole(jsonReply(JSON.stringify(discoveryOf(this.#catalog, route))));
  }

  #collection(request: KubeRequest, route: CollectionRoute): KubeResponse {
    const { kind, namespace = '' } = route;
    if (request.method === 'GET') return this.#read(request, route);
    if (request.method !== 'POST' || (kind.namespaced && namespace === '')) throw methodNotAllowed();
    return this.#whole(create(this.#hosts, { kind, namespace }, inputOf(request)));
  }

  #read(request: KubeRequest, target: CollectionRoute): KubeResponse {
    const { query = {} } = request;
    const options = listOptions(query);
    if (!isWatch(query)) {
      const list = { ...target, options, protobuf: isInProtobuf(request, target) };
      return this.#whole(readList(this.#hosts.storage, list));
    }
    const exchange = followExchange(this.#hosts.clock, request);
    return this.#respond({ status: 200 }, openWatch(this.#hosts, { ...target, options }, exchange));
  }

  #whole(reply: WholeReply): KubeResponse {
    return this.#respond(reply, bodyOf(typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body));
  }

  #respond({ status, headers }: Omit<WholeReply, 'body'>, body: AsyncIterable<Uint8Array>): KubeResponse {
    const date = formatHttpDate(this.#now());
    return { status, headers: { 'content-type': 'application/json', date, ...headers }, body };
  }
}

/**
 * Creates an embedded Kubernetes API server. As a `Kube` it is an in-memory transport: deadlines and aborts apply as they do on a
 * network. A write is done by the time `request` returns its promise; time passes on `clock` only.
 */
export const createSimApiServer = (options: SimApiServerOptions): SimApiServer => {
  const { clock, kinds = Object.values(simKinds), seed = 0 } = options;
  const { namespaces = defaultNamespaces, historyEvents = 5000 } = options;
  let skewMs = 0;
  const random = createSeededRandom(seed);
  const now = (): number => clock.now() + skewMs;
  const origin = createOrigin({ random: random.fork('origin'), now });
  const storage = new Storage(historyEvents, origin);
  const handler = new RequestHandler({ storage, clock, origin, random: random.fork('watch') }, kinds, now);
  const store = new SimStore(storage, origin);
  for (const name of namespaces) store.put(simKinds.Namespace, { metadata: { name } });
  // As on a real server, which has a history before its first client connects: versions from before the start are too old for a watch.
  storage.compact(storage.revision);
  return {
    store,
    setClockSkew(ms) {
      skewMs = ms;
    },
    setStamping(isOn) {
      storage.stamps = isOn;
    },
    async request(request) {
      request.signal.throwIfAborted();
      return handler.answer(request);
    },
  };
};
