import { podOfHolder } from '../../kubernetes/api/pod-of-holder.ts';
import type { NamespacedName } from '../../kubernetes/api/resource-ref.ts';
import type { Kube } from '../../kubernetes/api/kube.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import { getElectionLease } from '../../kubernetes/leaderelection/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import { readStatusOfPod } from '../../status/index.ts';

/** The leader did not respond. */
export class LeaderSilent extends Error {
  readonly pod: string;

  constructor(pod: string, cause: unknown) {
    super(`${pod} leads, but its status could not be read: ${(cause as Error).message}`, { cause });
    this.pod = pod;
  }
}

/** Requests the status from the leader, for the shoot with this namespace or for all. Rejects if nobody leads; with LeaderSilent if the leader does not respond. */
export type ReadLeaderStatus = (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;

export interface LeaderAccess {
  readonly seed: Kube;
  readonly clock: Clock;
  /** Lease of the leader election. */
  readonly lease: NamespacedName;
  /** Health port of every replica. */
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
      throw new LeaderSilent(pod, error);
    }
  };
};
