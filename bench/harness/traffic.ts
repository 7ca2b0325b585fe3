import { requestKind } from '../../simulator/network/counting.ts';
import type { SimHttpsServer } from '../../simulator/network/https.ts';
import type { Kube, KubeResponse } from '../../src/kubernetes/api/kube.ts';

/** Requests of one kind, and the bytes of their response bodies. */
export interface KindTraffic {
  readonly requests: number;
  readonly bytes: number;
}

/** Traffic by `verb resource`, such as `list leases`. */
export type Kinds = Readonly<Record<string, KindTraffic>>;

/** Traffic that servers have counted. */
export interface ServerTraffic {
  readonly connections: number;
  /** Number of TLS handshakes that resumed a session. */
  readonly resumed: number;
  /** Bytes over TCP, including TLS, from the clients; `bytesOut`: to the clients. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly kinds: Kinds;
}

/** Kind of request that a probe and a run of care each send once. */
export const probeKind = 'list leases';

export interface CountedKube extends Kube {
  kinds(): Kinds;
}

const counted = (body: KubeResponse['body'], add: (bytes: number) => void): KubeResponse['body'] => ({
  async *[Symbol.asyncIterator]() {
    for await (const chunk of body) {
      add(chunk.byteLength);
      yield chunk;
    }
  },
});

/** Wraps `kube` and counts its requests and the bytes of its response bodies. */
export const countKinds = (kube: Kube): CountedKube => {
  const kinds = new Map<string, { requests: number; bytes: number }>();
  return {
    kinds: () => Object.fromEntries(Array.from(kinds, ([key, count]) => [key, { ...count }])),
    async request(request) {
      const { verb, resource } = requestKind(request);
      const key = `${verb} ${resource}`;
      const count = kinds.get(key) ?? { requests: 0, bytes: 0 };
      kinds.set(key, count);
      count.requests += 1;
      const response = await kube.request(request);
      return { ...response, body: counted(response.body, (bytes) => (count.bytes += bytes)) };
    },
  };
};

const combine = (a: Kinds, b: Kinds, operation: (a: number, b: number) => number): Kinds => {
  const none = { requests: 0, bytes: 0 };
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const pairs = keys.map((key) => [key, a[key] ?? none, b[key] ?? none] as const);
  const results = pairs.map(
    ([key, one, other]) =>
      [key, { requests: operation(one.requests, other.requests), bytes: operation(one.bytes, other.bytes) }] as const,
  );
  return Object.fromEntries(results.filter(([, { requests, bytes }]) => requests !== 0 || bytes !== 0));
};

const both = (a: ServerTraffic, b: ServerTraffic, operation: (a: number, b: number) => number): ServerTraffic => ({
  connections: operation(a.connections, b.connections),
  resumed: operation(a.resumed, b.resumed),
  bytesIn: operation(a.bytesIn, b.bytesIn),
  bytesOut: operation(a.bytesOut, b.bytesOut),
  kinds: combine(a.kinds, b.kinds, operation),
});

const nothing: ServerTraffic = { connections: 0, resumed: 0, bytesIn: 0, bytesOut: 0, kinds: {} };

export const sumTraffic = (parts: readonly ServerTraffic[]): ServerTraffic =>
  parts.reduce((total, part) => both(total, part, (a, b) => a + b), nothing);

/** Traffic since `before`. */
export const trafficSince = (before: ServerTraffic, now: ServerTraffic): ServerTraffic =>
  both(now, before, (a, b) => a - b);

/** Traffic of the server `face`, whose requests `kube` handles. */
export const trafficOf = (face: SimHttpsServer, kube: CountedKube): ServerTraffic => {
  const { connections, resumed, bytesIn, bytesOut } = face.stats();
  return { connections, resumed, bytesIn, bytesOut, kinds: kube.kinds() };
};
