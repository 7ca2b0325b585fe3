import { requestKind } from '../../simulator/network/counting.ts';
import type { Kube, KubeResponse } from '../../src/kubernetes/api/kube.ts';

/** Numbers by name. */
export type Counts = Readonly<Record<string, number>>;

/** Adds `b` to `a`, or subtracts it. Names whose number is 0 are left out. */
const addCounts = (a: Counts, b: Counts, sign: 1 | -1 = 1): Counts => {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const sums = names.map((name) => [name, (a[name] ?? 0) + sign * (b[name] ?? 0)] as const);
  return Object.fromEntries(sums.filter(([, value]) => value !== 0));
};

/** What servers have counted. */
export interface Traffic {
  /** `connections`; `resumed`: TLS handshakes that resumed a session; `bytesIn`, `bytesOut`: bytes over TCP from and to the clients, TLS included. */
  readonly tcp: Counts;
  /** Number of requests by `verb resource`, such as `list leases`. */
  readonly requests: Counts;
  /** Bytes of the response bodies, by the same. */
  readonly bytes: Counts;
}

export const noTraffic: Traffic = { tcp: {}, requests: {}, bytes: {} };

export const addTraffic = (a: Traffic, b: Traffic, sign: 1 | -1 = 1): Traffic => ({
  tcp: addCounts(a.tcp, b.tcp, sign),
  requests: addCounts(a.requests, b.requests, sign),
  bytes: addCounts(a.bytes, b.bytes, sign),
});

/** Kind of request that a probe sends once. */
export const probeKind = 'list leases';

export interface CountedKube extends Kube {
  readonly counted: Pick<Traffic, 'requests' | 'bytes'>;
}

const measured = (body: KubeResponse['body'], add: (bytes: number) => void): KubeResponse['body'] => ({
  async *[Symbol.asyncIterator]() {
    for await (const chunk of body) {
      add(chunk.byteLength);
      yield chunk;
    }
  },
});

/** Wraps `kube` and counts its requests and the bytes of its response bodies. */
export const countTraffic = (kube: Kube): CountedKube => {
  const [requests, bytes]: [Record<string, number>, Record<string, number>] = [{}, {}];
  return {
    counted: { requests, bytes },
    async request(request) {
      const { verb, resource } = requestKind(request);
      const key = `${verb} ${resource}`;
      requests[key] = (requests[key] ?? 0) + 1;
      const response = await kube.request(request);
      return { ...response, body: measured(response.body, (length) => (bytes[key] = (bytes[key] ?? 0) + length)) };
    },
  };
};
