import type { NamespacedName } from '../../kubernetes/api/resource-ref.ts';
import type { Kube } from '../../kubernetes/api/kube.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import { getElectionLease } from '../../kubernetes/leaderelection/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProberStatus } from '../../prober/status/schema.ts';
import { askPod } from '../../status/index.ts';

/** Asks the replica that leads, for one shoot by its namespace or for all. Rejects where nobody leads or it does not answer. */
export type AskLeader = (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;

export interface LeaderAccess {
  readonly seed: Kube;
  readonly clock: Clock;
  /** By which the leader is elected. */
  readonly lease: NamespacedName;
  /** Of every replica. */
  readonly healthPort: number;
}

/** It answers within milliseconds, or not at all. */
const timeoutMs = 2_000;
/** How long the holder of the Lease is taken to lead. */
const believedMs = 10_000;

/** `Election.identity` without what follows the name of the pod. */
const podOf = (holder: string): string => holder.replace(/_[^_]*$/, '');

/** Through the API server's proxy for pods: wants `get` on `pods/proxy` in the namespace of the Lease, beside what leader election wants. */
export const leaderAsker = ({ seed, clock, lease, healthPort }: LeaderAccess): AskLeader => {
  const client = createKubeClient({ kube: seed, clock });
  let known: { readonly pod: string; readonly until: number } | undefined;
  const podOfLeader = async (signal: AbortSignal): Promise<string> => {
    if (known !== undefined && clock.monotonic() < known.until) return known.pod;
    const { holder } = (await client.call(getElectionLease(lease), { signal, timeoutMs })).value;
    if (holder === '') throw new Error('nobody leads');
    known = { pod: podOf(holder), until: clock.monotonic() + believedMs };
    return known.pod;
  };
  return async (shoot, signal) => {
    const pod = await podOfLeader(signal);
    try {
      return await askPod(client, lease.namespace, { pod, healthPort })(shoot, { signal, timeoutMs });
    } catch (error) {
      known = undefined;
      throw new Error(`${pod} leads, and was asked in vain: ${(error as Error).message}`, { cause: error });
    }
  };
};
