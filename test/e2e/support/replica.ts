import { seedRules } from '../../envtest/shoot.ts';
import type { AuditedRequest } from './audit.ts';
import { millRules } from './mill.ts';
import { type ProberBehindProxy, type ProberBehindProxyOptions, proberBehindProxy } from './prober-behind-proxy.ts';

export const electionLease = { namespace: 'garden', name: 'dwd-prober-leader-election' };

/** What leader election may do, and no more. */
const electionRules = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'], namespace: electionLease.namespace },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [electionLease.name],
    verbs: ['get', 'update'],
    namespace: electionLease.namespace,
  },
];

/** One of several programs that elect a leader, as a user of its own. */
export interface ProgramReplica extends Omit<ProberBehindProxy, 'start'> {
  readonly user: string;
  /** As a pod is started again; not while it runs. */
  start(): void;
}

export interface ProgramReplicaOptions extends Omit<ProberBehindProxyOptions, 'rules'> {
  readonly flags: readonly string[];
}

export const createReplica = async ({ flags, ...options }: ProgramReplicaOptions): Promise<ProgramReplica> => {
  const prober = await proberBehindProxy({ ...options, rules: [...seedRules, ...millRules, ...electionRules] });
  return { ...prober, user: options.user, start: () => void prober.start(flags) };
};

const isWrite = ({ verb }: AuditedRequest): boolean => ['create', 'update', 'patch', 'delete'].includes(verb);

/** A change of the Lease that the API server has made. */
export interface LeaseWrite {
  readonly user: string;
  readonly at: number;
  /** Empty when it was released. */
  readonly holder: string;
  /** How long it is good for, as the Lease itself says. */
  readonly durationMs: number;
}

export const toElectionLease = ({ uri }: AuditedRequest): boolean =>
  uri.startsWith(`/apis/coordination.k8s.io/v1/namespaces/${electionLease.namespace}/leases`);

const asLeaseWrite = (request: AuditedRequest): LeaseWrite | undefined => {
  if (!toElectionLease(request) || !isWrite(request) || request.status >= 300) return undefined;
  const { spec } = request.body as {
    readonly spec: { readonly holderIdentity?: string; readonly leaseDurationSeconds: number };
  };
  const durationMs = spec.leaseDurationSeconds * 1_000;
  return { user: request.user, at: request.at, holder: spec.holderIdentity ?? '', durationMs };
};

export const leaseWrites = (requests: readonly AuditedRequest[]): readonly LeaseWrite[] =>
  requests.flatMap((request) => asLeaseWrite(request) ?? []);

/** The lead going from one holder to the next. */
export interface HandOver {
  readonly from: string;
  readonly to: string;
  /** When the API server received the first write of the next one. */
  readonly at: number;
  /** The former one gave the Lease back. */
  readonly isReleased: boolean;
  /** Between the last write of the former holder and the first of the next one, as the API server received them. */
  readonly gapMs: number;
  /** How long the former holder's last write was good for. */
  readonly durationMs: number;
}

export const handOvers = (writes: readonly LeaseWrite[]): readonly HandOver[] => {
  const found: HandOver[] = [];
  let holder: string | undefined;
  let last: LeaseWrite | undefined;
  for (const write of writes) {
    if (write.holder !== '' && write.holder !== holder) {
      if (holder !== undefined && last !== undefined) {
        const [isReleased, gapMs] = [last.holder === '', write.at - last.at];
        found.push({ from: holder, to: write.holder, at: write.at, isReleased, gapMs, durationMs: last.durationMs });
      }
      holder = write.holder;
    }
    last = write;
  }
  return found;
};

/** Writes to dependent resources that reached the API server, refused ones included. */
export const dependentWrites = (requests: readonly AuditedRequest[]): readonly AuditedRequest[] =>
  requests.filter((request) => isWrite(request) && request.uri.includes('/watermills/'));

/**
 * Writes of replicas at a time when, by the Lease, they did not lead: a term lasts from the write that takes the Lease until it is released
 * or another takes it.
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
