import type { AuditedRequest } from '../../envtest/audit.ts';

export const electionLease = { namespace: 'garden', name: 'dwd-prober-leader-election' };

const isWrite = ({ verb }: AuditedRequest): boolean => ['create', 'update', 'patch', 'delete'].includes(verb);

/** A successful write of the Lease. */
export interface LeaseWrite {
  readonly user: string;
  readonly at: number;
  /** Holder after the write. Empty if the Lease was released. */
  readonly holder: string;
}

export const toElectionLease = ({ uri }: AuditedRequest): boolean =>
  uri.startsWith(`/apis/coordination.k8s.io/v1/namespaces/${electionLease.namespace}/leases`);

const asLeaseWrite = (request: AuditedRequest): LeaseWrite | undefined => {
  if (!toElectionLease(request) || !isWrite(request) || request.status >= 300) return undefined;
  const { spec } = request.body as { readonly spec: { readonly holderIdentity?: string } };
  return { user: request.user, at: request.at, holder: spec.holderIdentity ?? '' };
};

export const leaseWrites = (requests: readonly AuditedRequest[]): readonly LeaseWrite[] =>
  requests.flatMap((request) => asLeaseWrite(request) ?? []);

/** A change of leaders. */
export interface HandOver {
  readonly from: string;
  readonly to: string;
  /** Time at which the API server received the new leader's first write, in epoch milliseconds. */
  readonly at: number;
  /** True if the former leader released the Lease. */
  readonly isReleased: boolean;
}

export const handOvers = (writes: readonly LeaseWrite[]): readonly HandOver[] => {
  const found: HandOver[] = [];
  let holder: string | undefined;
  let last: LeaseWrite | undefined;
  for (const write of writes) {
    if (write.holder !== '' && write.holder !== holder) {
      if (holder !== undefined && last !== undefined) {
        found.push({ from: holder, to: write.holder, at: write.at, isReleased: last.holder === '' });
      }
      holder = write.holder;
    }
    last = write;
  }
  return found;
};

/** Returns the writes to dependent resources that reached the API server, including refused ones. */
export const dependentWrites = (requests: readonly AuditedRequest[]): readonly AuditedRequest[] =>
  requests.filter((request) => isWrite(request) && request.uri.includes('/watermills/'));

/**
 * Returns the writes of replicas that, by the Lease, did not lead at the time. A term lasts from the write that takes the Lease until it is
 * released or another replica takes it.
 */
export const writesOutOfTerm = (
  requests: readonly AuditedRequest[],
  users: readonly string[],
): readonly AuditedRequest[] => {
  const dependent = new Set(dependentWrites(requests));
  const outOfTerm: AuditedRequest[] = [];
  let leader: string | undefined;
  for (const request of requests.toSorted((a, b) => a.at - b.at)) {
    const lease = asLeaseWrite(request);
    if (lease !== undefined) leader = lease.holder === '' ? undefined : lease.user;
    else if (dependent.has(request) && users.includes(request.user) && request.user !== leader) outOfTerm.push(request);
  }
  return outOfTerm;
};
