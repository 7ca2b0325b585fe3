import type { Clock } from '../../ports/clock.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import type { Origin } from '../feed/index.ts';
import { LeaderSilent, type ReadLeaderStatus } from './leader.ts';
import type { PageSource } from './seed-feed.ts';

export interface ReplicaSourceDeps {
  /** Returns this replica's own status, for the shoot with this namespace or for all. */
  readonly own: (shoot: string | undefined) => ProberStatus;
  readonly leads: () => boolean;
  /** Namespace of the replicas, and the port at which each serves its page. */
  readonly pages?: { readonly namespace: string; readonly port: number } | undefined;
  /** Absent without leader election. */
  readonly askLeader?: ReadLeaderStatus | undefined;
  readonly clock: Clock;
}

/** Time in milliseconds between a failed request to the leader and the next one. */
const retryMs = 10_000;

/** Creates a source that shows the leader's view or, if requests to the leader fail, this replica's own view with the reason. */
export const replicaSource = ({ own, leads, pages, askLeader, clock }: ReplicaSourceDeps): PageSource => {
  let failed: { readonly origin: Origin; readonly until: number } | undefined;
  const originAfter = (error: Error): Origin => ({
    of: 'standby',
    problem: error.message,
    leader: pages && error instanceof LeaderSilent ? { ...pages, pod: error.pod } : undefined,
  });
  const ofLeader = async (shoot: string | undefined, signal: AbortSignal): Promise<ProberStatus | undefined> => {
    if (leads() || askLeader === undefined) return undefined;
    if (failed !== undefined && clock.monotonic() < failed.until) return undefined;
    try {
      const status = await askLeader(shoot, signal);
      failed = undefined;
      return status;
    } catch (error) {
      if (signal.aborted) throw error;
      failed = { origin: originAfter(error as Error), until: clock.monotonic() + retryMs };
      return undefined;
    }
  };
  return {
    seed: async (signal) => {
      const status = await ofLeader(undefined, signal);
      const ownStatus = own(undefined);
      if (status !== undefined) return { status, origin: { of: 'leader', servedBy: ownStatus.identity } };
      if (leads()) return { status: ownStatus, origin: { of: 'leader' } };
      return { status: ownStatus, origin: failed?.origin ?? { of: 'standby' } };
    },
    shoot: async (namespace, signal) => ((await ofLeader(namespace, signal)) ?? own(namespace)).shoots[0],
  };
};
