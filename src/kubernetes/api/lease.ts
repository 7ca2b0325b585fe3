import { type MessageFields, fieldStamp, flat, integer, microseconds, text } from '../protobuf/index.ts';
import type { Call, ListBounds } from './call.ts';
import {
  type JsonObject,
  checkName,
  decodeMeta,
  decodeObject,
  optionalInteger,
  optionalMicroTime,
  optionalObject,
  optionalString,
} from './decode.ts';
import { leaseListBounds, listCall } from './list-call.ts';

/** A Lease (`coordination.k8s.io/v1`). A node's lease, in the namespace `kube-node-lease`, has the name of its node. */
export interface Lease {
  readonly name: string;
  /** `spec.renewTime` as the node wrote it: microseconds since the epoch. */
  readonly renewTime?: number;
  /**
   * The API server's own clock at the latest change of `renewTime`, in microseconds since the epoch, to the second: the time of the entry in
   * `metadata.managedFields` that owns the field. Servers before Kubernetes 1.25 leave it at the Lease's creation (kubernetes/kubernetes#110058).
   */
  readonly stampedAt?: number;
  readonly durationSeconds?: number;
}

/** Field numbers: k8s.io/api `coordination/v1/generated.proto`. */
const leaseFields: MessageFields = {
  1: flat({ 1: text('name'), 17: fieldStamp('stampedAt', 'renewTime') }),
  2: flat({ 2: integer('durationSeconds'), 4: microseconds('renewTime') }),
};

const specOf = (object: JsonObject, path: string): JsonObject => optionalObject(object.spec, `${path}.spec`) ?? {};

const stampOf = (object: JsonObject): number | undefined => {
  const { managedFields } = optionalObject(object.metadata, 'metadata') ?? {};
  let latest: number | undefined;
  for (const entry of Array.isArray(managedFields) ? managedFields : []) {
    const { time, fieldsV1 } = decodeObject(entry, 'metadata.managedFields');
    const owned = optionalObject(optionalObject(fieldsV1, 'fieldsV1')?.['f:spec'], 'f:spec')?.['f:renewTime'];
    const at = owned === undefined ? undefined : optionalMicroTime(time, 'time');
    if (at !== undefined) latest = Math.max(at, latest ?? at);
  }
  return latest;
};

export const decodeLease = (json: unknown, path: string): Lease => {
  const object = decodeObject(json, path);
  const spec = specOf(object, path);
  return {
    name: decodeMeta(object, path).name,
    renewTime: optionalMicroTime(spec.renewTime, `${path}.spec.renewTime`),
    stampedAt: stampOf(object),
    durationSeconds: optionalInteger(spec.leaseDurationSeconds, `${path}.spec.leaseDurationSeconds`),
  };
};

/** Returns `renewTime` in milliseconds since the epoch; undefined for a Lease without it. */
export const renewedAtMs = ({ renewTime }: Lease): number | undefined =>
  renewTime === undefined ? undefined : Math.floor(renewTime / 1_000);

/**
 * Returns the time at which a Lease expires by its own timestamp and duration, in milliseconds since the epoch; -Infinity without `renewTime`. Care uses this
 * rule, as gardenlet does. The prober does not: it judges leases by the API server's clock (`observeLeases` in prober/judge/leases.ts).
 */
export const expiryByTimestampMs = (lease: Lease): number =>
  (renewedAtMs(lease) ?? Number.NEGATIVE_INFINITY) + (lease.durationSeconds ?? 0) * 1_000;

/** Lists the leases of all nodes in one page and without `resourceVersion`: a stale list from the API server's cache would look like an outage. */
export const listNodeLeasesWithin = (bounds: ListBounds): Call<readonly Lease[]> =>
  listCall({
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    kind: 'LeaseList',
    decode: decodeLease,
    protobuf: {
      apiVersion: 'coordination.k8s.io/v1',
      fields: leaseFields,
      empty: (): Lease => ({ name: '', renewTime: undefined, stampedAt: undefined, durationSeconds: undefined }),
      project: (draft, path) => checkName(draft as Lease, path),
    },
    nameOf: ({ name }) => name,
    pageSize: 'none',
    bounds,
  });

export const listNodeLeases: Call<readonly Lease[]> = listNodeLeasesWithin(leaseListBounds);

/** The Lease of a leader election, as client-go's `tools/leaderelection` writes it. */
export interface ElectionLease extends Lease {
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `holderIdentity`; empty if nobody holds the Lease. */
  readonly holder: string;
  readonly transitions: number;
  /** Microseconds since the epoch. */
  readonly acquireTime?: number;
  /** The object and its spec as they were read: a write sends unknown fields back. */
  readonly object: JsonObject;
  readonly spec: JsonObject;
}

export const decodeElectionLease = (json: unknown): ElectionLease => {
  const object = decodeObject(json, 'lease');
  const { namespace, uid, resourceVersion } = decodeMeta(object, 'lease');
  const spec = specOf(object, 'lease');
  return {
    ...decodeLease(object, 'lease'),
    namespace,
    uid,
    resourceVersion,
    holder: optionalString(spec.holderIdentity, 'lease.spec.holderIdentity') ?? '',
    transitions: optionalInteger(spec.leaseTransitions, 'lease.spec.leaseTransitions') ?? 0,
    acquireTime: optionalMicroTime(spec.acquireTime, 'lease.spec.acquireTime'),
    object,
    spec,
  };
};
