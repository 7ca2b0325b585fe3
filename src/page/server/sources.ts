import { podOfHolder } from '../../kubernetes/api/pod-of-holder.ts';
import type { NamespacedName } from '../../kubernetes/api/resource-ref.ts';
import type { Kube } from '../../kubernetes/api/kube.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import { getElectionLease } from '../../kubernetes/leaderelection/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { readStatusOfPod } from '../../status/index.ts';
import { type ProberStatus, statusSchema } from '../../status/state/schema.ts';
import type { Origin } from '../feed/index.ts';
import type { PageSource } from './seed-feed.ts';

/**
 * Creates a source that shows another replica's view. `ask` requests its `GET /status` with a query, such as `?shoot=a`, and resolves with the body. The
 * source rejects if `ask` does, and if the response is not a valid status.
 */
export const remoteSource = (
  ask: (query: string, signal: AbortSignal) => Promise<string>,
  origin: Origin,
): PageSource => {
  const statusOf = async (query: string, signal: AbortSignal): Promise<ProberStatus> =>
    statusSchema.parse(JSON.parse(await ask(query, signal)));
  return {
    seed: async (signal) => ({ status: await statusOf('', signal), origin }),
    shoot: async (shoot, signal) => (await statusOf(`?${new URLSearchParams({ shoot }).toString()}`, signal)).shoots[0],
  };
};

/** Requests the status from the leader, for the shoot with this namespace or for all. Rejects if nobody leads, or if the leader does not respond. */
export type ReadLeaderStatus = (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;

export interface LeaderAccess {
  readonly seed: Kube;
  readonly clock: Clock;
  /** Lease of the leader election. */
  readonly lease: NamespacedName;
  /** Port of every replica. */
  readonly healthPort: number;
}

/** Timeout of a request to the leader, which usually responds within milliseconds. */
const timeoutMs = 2_000;
/** Time in milliseconds for which the holder of the Lease is cached. */
const believedMs = 10_000;

/** Reaches the leader through the API server's proxy for pods. Needs `get` on `pods/proxy` in the Lease's namespace, and the rights of leader election. */
export const leaderStatusReader = ({ seed, clock, lease, healthPort }: LeaderAccess): ReadLeaderStatus => {
  const client = createKubeClient({ kube: seed, clock });
  let known: { readonly pod: string; readonly until: number } | undefined;
  const podOfLeader = async (signal: AbortSignal): Promise<string> => {
    if (known !== undefined && clock.monotonic() < known.until) return known.pod;
    const { holder } = (await client.call(getElectionLease(lease), { signal, timeoutMs })).value;
    if (holder === '') throw new Error('no replica leads');
    known = { pod: podOfHolder(holder), until: clock.monotonic() + believedMs };
    return known.pod;
  };
  return async (shoot, signal) => {
    const pod = await podOfLeader(signal);
    try {
      return await readStatusOfPod(client, lease.namespace, { pod, healthPort })(shoot, { signal, timeoutMs });
    } catch (error) {
      known = undefined;
      const { message } = error as Error;
      throw new Error(`${pod} leads, but its status could not be read: ${message}`, { cause: error });
    }
  };
};

export interface ReplicaSourceDeps {
  readonly identity: string;
  /** Returns this replica's own status, for the shoot with this namespace or for all. */
  readonly own: (shoot: string | undefined) => ProberStatus;
  readonly leads: () => boolean;
  /** Namespace of the replicas. Absent without leader election. */
  readonly namespace?: string | undefined;
  /** Absent if the leader cannot be asked. */
  readonly askLeader?: ReadLeaderStatus | undefined;
  readonly clock: Clock;
}

/** Time in milliseconds between a failed request to the leader and the next one. */
const retryMs = 10_000;

/** Creates a source that shows the leader's view or, if requests to the leader fail, this replica's own view with the reason. */
export const replicaSource = ({ identity, own, leads, namespace, askLeader, clock }: ReplicaSourceDeps): PageSource => {
  let failed: { readonly problem: string; readonly until: number } | undefined;
  const ofLeader = async (shoot: string | undefined, signal: AbortSignal): Promise<ProberStatus | undefined> => {
    if (leads() || askLeader === undefined) return undefined;
    if (failed !== undefined && clock.monotonic() < failed.until) return undefined;
    try {
      const status = await askLeader(shoot, signal);
      failed = undefined;
      return status;
    } catch (error) {
      if (signal.aborted) throw error;
      failed = { problem: (error as Error).message, until: clock.monotonic() + retryMs };
      return undefined;
    }
  };
  return {
    seed: async (signal) => {
      const status = await ofLeader(undefined, signal);
      if (status !== undefined) return { status, origin: { of: 'leader', servedBy: identity } };
      const origin: Origin = leads() ? { of: 'leader' } : { of: 'standby', namespace, problem: failed?.problem };
      return { status: own(undefined), origin };
    },
    shoot: async (namespace, signal) => ((await ofLeader(namespace, signal)) ?? own(namespace)).shoots[0],
  };
};
