import type { Call } from '../api/call.ts';
import {
  type JsonObject,
  decodeMeta,
  decodeObject,
  optionalInteger,
  optionalObject,
  optionalString,
} from '../api/decode.ts';
import { formatMicroTime } from '../api/micro-time.ts';

/** The Lease (`coordination.k8s.io/v1`) that replicas elect their leader by, as client-go's `tools/leaderelection` writes it. */
export interface ElectionLease {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Empty: nobody. */
  readonly holder: string;
  /** Absent when the Lease names none. */
  readonly durationMs?: number;
  readonly transitions: number;
  /** As written; only ever compared with themselves. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** The object as it was read: a write sends back what it does not know. */
  readonly object: JsonObject;
}

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

const specOf = (object: JsonObject): JsonObject => optionalObject(object.spec, 'lease.spec') ?? {};

const decodeElectionLease = (json: unknown): ElectionLease => {
  const object = decodeObject(json, 'lease');
  const { uid, resourceVersion } = decodeMeta(object, 'lease');
  const spec = specOf(object);
  const seconds = optionalInteger(spec.leaseDurationSeconds, 'lease.spec.leaseDurationSeconds') ?? 0;
  return {
    uid,
    resourceVersion,
    holder: optionalString(spec.holderIdentity, 'lease.spec.holderIdentity') ?? '',
    ...(seconds > 0 ? { durationMs: seconds * 1_000 } : {}),
    transitions: optionalInteger(spec.leaseTransitions, 'lease.spec.leaseTransitions') ?? 0,
    acquireTime: optionalString(spec.acquireTime, 'lease.spec.acquireTime') ?? '',
    renewTime: optionalString(spec.renewTime, 'lease.spec.renewTime') ?? '',
    object,
  };
};

const leasesPath = (namespace: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;

const leasePath = ({ namespace, name }: LeaseName): string => `${leasesPath(namespace)}/${encodeURIComponent(name)}`;

/** Consistent: without a resourceVersion the API server reads from etcd. */
export const getElectionLease = (at: LeaseName): Call<ElectionLease> => ({
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

const microTime = (wall: number): string => {
  const seconds = Math.floor(wall / 1_000);
  return formatMicroTime(seconds, Math.floor(wall - seconds * 1_000) * 1_000_000) ?? epoch;
};

/**
 * `renewTime` of a write after one that said `previous`. Others see a renewal by its difference alone, so a wall clock that stands still
 * counts on in the microseconds, which it has no use for otherwise.
 */
const nextMicroTime = (wall: number, previous: string): string => {
  const time = microTime(wall);
  const millisecond = time.slice(0, -4);
  if (previous.slice(0, -4) !== millisecond) return time;
  return `${millisecond}${String((Number(previous.slice(-4, -1)) + 1) % 1_000).padStart(3, '0')}Z`;
};

const recordOf = ({ identity, leaseDurationMs }: Claim): JsonObject => ({
  holderIdentity: identity,
  leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
});

/** Refused with AlreadyExists when another was faster. */
export const createElectionLease = (at: LeaseName, claim: Claim): Call<ElectionLease> => {
  const time = microTime(claim.wall);
  return {
    method: 'POST',
    path: leasesPath(at.namespace),
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
const replace = (at: LeaseName, lease: ElectionLease, spec: JsonObject): Call<ElectionLease> => ({
  method: 'PUT',
  path: leasePath(at),
  repeatable: true,
  body: { ...lease.object, spec: { ...specOf(lease.object), ...spec } },
  decode: decodeElectionLease,
});

export const renewElectionLease = (at: LeaseName, lease: ElectionLease, claim: Claim): Call<ElectionLease> =>
  replace(at, lease, { ...recordOf(claim), renewTime: nextMicroTime(claim.wall, lease.renewTime) });

/** From whoever held it last. */
export const takeElectionLease = (at: LeaseName, lease: ElectionLease, claim: Claim): Call<ElectionLease> => {
  const time = nextMicroTime(claim.wall, lease.renewTime);
  const leaseTransitions = lease.transitions + 1;
  return replace(at, lease, { ...recordOf(claim), acquireTime: time, renewTime: time, leaseTransitions });
};

/** Gives it up, so that the next one need not wait (client-go `tools/leaderelection`, release). */
export const releaseElectionLease = (at: LeaseName, lease: ElectionLease, wall: number): Call<ElectionLease> => {
  const time = nextMicroTime(wall, lease.renewTime);
  return replace(at, lease, { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time });
};
