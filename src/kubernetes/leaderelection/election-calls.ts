import type { NamespacedName } from '../api/resource-ref.ts';
import type { Call } from '../api/call.ts';
import type { JsonObject } from '../api/decode.ts';
import { type ElectionLease, decodeElectionLease } from '../api/lease.ts';
import { formatMicroTime } from '../api/micro-time.ts';
import { resourcePath } from '../api/resource-path.ts';

const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases' };

const leasePath = ({ namespace, name }: NamespacedName): string => resourcePath({ ...leases, namespace, name });

/** Consistent: without a resourceVersion the API server reads from etcd. */
export const getElectionLease = (at: NamespacedName): Call<ElectionLease> => ({
  method: 'GET',
  path: leasePath(at),
  decode: decodeElectionLease,
});

export interface Claim {
  readonly identity: string;
  /** Written as whole seconds, rounded up: others must not take the Lease while we count on it. */
  readonly leaseDurationMs: number;
  /** Our wall clock, milliseconds since the epoch. For people to read. */
  readonly wall: number;
}

const epoch = '1970-01-01T00:00:00.000000Z';

const format = (microseconds: number): string => {
  const seconds = Math.floor(microseconds / 1_000_000);
  return formatMicroTime(seconds, (microseconds - seconds * 1_000_000) * 1_000) ?? epoch;
};

const microTime = (wall: number): string => format(Math.floor(wall) * 1_000);

/**
 * `renewTime` of a write after one that said `previous`, in microseconds. Others see a renewal by its difference alone, so a wall clock that stands still counts on in
 * the microseconds, which it has no use for otherwise.
 */
const nextMicroTime = (wall: number, previous = Number.NaN): string => {
  const millisecond = Math.floor(wall) * 1_000;
  const finer = previous - millisecond;
  return format(finer >= 0 && finer < 1_000 ? millisecond + ((finer + 1) % 1_000) : millisecond);
};

const recordOf = ({ identity, leaseDurationMs }: Claim): JsonObject => ({
  holderIdentity: identity,
  leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
});

/** Refused with AlreadyExists when another was faster. */
export const createElectionLease = (at: NamespacedName, claim: Claim): Call<ElectionLease> => {
  const time = microTime(claim.wall);
  return {
    method: 'POST',
    path: resourcePath({ ...leases, namespace: at.namespace }),
    body: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: at.name, namespace: at.namespace },
      spec: { ...recordOf(claim), acquireTime: time, renewTime: time, leaseTransitions: 0 },
    },
    decode: decodeElectionLease,
  };
};

/** A PUT of the object that was read, its resourceVersion and UID included: refused with a Conflict when anything changed since. */
const replace = (at: NamespacedName, lease: ElectionLease, spec: JsonObject): Call<ElectionLease> => ({
  method: 'PUT',
  path: leasePath(at),
  repeatable: true,
  body: { ...lease.object, spec: { ...lease.spec, ...spec } },
  decode: decodeElectionLease,
});

export const renewElectionLease = (at: NamespacedName, lease: ElectionLease, claim: Claim): Call<ElectionLease> =>
  replace(at, lease, { ...recordOf(claim), renewTime: nextMicroTime(claim.wall, lease.renewTime) });

/** Takes it from its last holder. */
export const takeElectionLease = (at: NamespacedName, lease: ElectionLease, claim: Claim): Call<ElectionLease> => {
  const time = nextMicroTime(claim.wall, lease.renewTime);
  const leaseTransitions = lease.transitions + 1;
  return replace(at, lease, { ...recordOf(claim), acquireTime: time, renewTime: time, leaseTransitions });
};

/** Gives it up, so that the next one need not wait (client-go `tools/leaderelection`, release). */
export const releaseElectionLease = (at: NamespacedName, lease: ElectionLease, wall: number): Call<ElectionLease> => {
  const time = nextMicroTime(wall, lease.renewTime);
  return replace(at, lease, { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time });
};
