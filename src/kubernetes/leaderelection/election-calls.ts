import type { NamespacedName } from '../api/resource-ref.ts';
import type { Call } from '../api/call.ts';
import { type JsonObject, decodeMeta, decodeObject } from '../api/decode.ts';
import { type ElectionLease, decodeElectionLease } from '../api/lease.ts';
import { formatMicroTime } from '../api/micro-time.ts';
import { resourcePath } from '../api/resource-path.ts';

const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases' };

const leasePath = ({ namespace, name }: NamespacedName): string => resourcePath({ ...leases, namespace, name });

/** Reads the Lease consistently: without a resourceVersion the API server reads from etcd. */
export const getElectionLease = (at: NamespacedName): Call<ElectionLease> => ({
  method: 'GET',
  path: leasePath(at),
  decode: decodeElectionLease,
});

export interface Claim {
  readonly identity: string;
  /** Lease duration in milliseconds. Written as whole seconds, rounded up: others must not take the Lease while we rely on it. */
  readonly leaseDurationMs: number;
  /** Our wall clock in milliseconds since the epoch, only for humans. */
  readonly wall: number;
}

const epoch = '1970-01-01T00:00:00.000000Z';

const format = (microseconds: number): string => {
  const seconds = Math.floor(microseconds / 1_000_000);
  return formatMicroTime(seconds, (microseconds - seconds * 1_000_000) * 1_000) ?? epoch;
};

const microTime = (wall: number): string => format(Math.floor(wall) * 1_000);

/**
 * Returns the `renewTime` of a write that follows one with `previous`, in microseconds. Others notice a renewal only by a different value, so while
 * the wall clock does not advance, the microseconds count up, which are unused otherwise.
 */
const nextMicroTime = (wall: number, previous = Number.NaN): string => {
  const millisecond = Math.floor(wall) * 1_000;
  const finer = previous - millisecond;
  return format(finer >= 0 && finer < 1_000 ? millisecond + ((finer + 1) % 1_000) : millisecond);
};

/**
 * Annotation of the Lease with the holder that wrote it. A Go program that takes the Lease leaves it as it is, so it names the holder only if a program of ours
 * is that.
 */
const holderAnnotation = 'dependency-watchdog.gardener.cloud/holder';

/** True if the holder of the Lease is a program of ours. */
export const isHeldByOurs = ({ holder, object }: ElectionLease): boolean =>
  decodeMeta(object, 'lease').annotations[holderAnnotation] === holder;

const annotationsOf = ({ identity }: Claim): Readonly<Record<string, string>> => ({ [holderAnnotation]: identity });

const recordOf = ({ identity, leaseDurationMs }: Claim): JsonObject => ({
  holderIdentity: identity,
  leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
});

/** Creates the Lease; AlreadyExists if another candidate was faster. */
export const createElectionLease = (at: NamespacedName, claim: Claim): Call<ElectionLease> => {
  const time = microTime(claim.wall);
  return {
    method: 'POST',
    path: resourcePath({ ...leases, namespace: at.namespace }),
    body: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: at.name, namespace: at.namespace, annotations: annotationsOf(claim) },
      spec: { ...recordOf(claim), acquireTime: time, renewTime: time, leaseTransitions: 0 },
    },
    decode: decodeElectionLease,
  };
};

/** PUTs the object that was read, with its resourceVersion and UID: a Conflict if the object has changed since. */
const replace = (at: NamespacedName, { object, spec }: ElectionLease, change: JsonObject): Call<ElectionLease> => ({
  method: 'PUT',
  path: leasePath(at),
  repeatable: true,
  body: { ...object, spec: { ...spec, ...change } },
  decode: decodeElectionLease,
});

const claimed = (lease: ElectionLease, claim: Claim): ElectionLease => {
  const metadata = decodeObject(lease.object.metadata, 'lease.metadata');
  const { annotations } = decodeMeta(lease.object, 'lease');
  return {
    ...lease,
    object: { ...lease.object, metadata: { ...metadata, annotations: { ...annotations, ...annotationsOf(claim) } } },
  };
};

export const renewElectionLease = (at: NamespacedName, lease: ElectionLease, claim: Claim): Call<ElectionLease> =>
  replace(at, claimed(lease, claim), { ...recordOf(claim), renewTime: nextMicroTime(claim.wall, lease.renewTime) });

/** Takes the Lease from its last holder. */
export const takeElectionLease = (at: NamespacedName, lease: ElectionLease, claim: Claim): Call<ElectionLease> => {
  const time = nextMicroTime(claim.wall, lease.renewTime);
  const leaseTransitions = lease.transitions + 1;
  return replace(at, claimed(lease, claim), {
    ...recordOf(claim),
    acquireTime: time,
    renewTime: time,
    leaseTransitions,
  });
};

/** Releases the Lease, so that the next leader need not wait (client-go `tools/leaderelection`, release). */
export const releaseElectionLease = (at: NamespacedName, lease: ElectionLease, wall: number): Call<ElectionLease> => {
  const time = nextMicroTime(wall, lease.renewTime);
  return replace(at, lease, { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time });
};
