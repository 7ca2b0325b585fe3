import { requestKind, withCounting } from '../../simulator/network/counting.ts';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';

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

/** Wraps `kube` and counts its requests and the bytes of its response bodies. */
export const countTraffic = (kube: Kube) => {
  const counting = withCounting(kube);
  const bytes: Record<string, number> = {};
  return {
    counted: (): Pick<Traffic, 'requests' | 'bytes'> => ({
      requests: Object.fromEntries(counting.counts.byKey),
      bytes,
    }),
    async request(request: KubeRequest): Promise<KubeResponse> {
      const { verb, resource } = requestKind(request);
      const key = `${verb} ${resource}`;
      const response = await counting.request(request);
      const read = async function* (): KubeResponse['body'] {
        for await (const chunk of response.body) {
          bytes[key] = (bytes[key] ?? 0) + chunk.byteLength;
          yield chunk;
        }
      };
      return { ...response, body: read() };
    },
  };
};
