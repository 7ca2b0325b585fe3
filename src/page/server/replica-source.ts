import type { Clock } from '../../ports/clock.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import type { ReadLeaderStatus } from './leader.ts';
import type { PageSource } from './seed-feed.ts';

export interface ReplicaSourceDeps {
  /** Returns this replica's own status, for the shoot with this namespace or for all. */
  readonly own: (shoot: string | undefined) => ProberStatus;
  readonly leads: () => boolean;
  /** Absent without leader election. */
  readonly askLeader?: ReadLeaderStatus | undefined;
  readonly clock: Clock;
}

/** Time in milliseconds between a failed request to the leader and the next one. */
const retryMs = 10_000;

/** Creates a source that shows the leader's view or, if requests to the leader fail, this replica's own view with the reason. */
export const replicaSource = ({ own, leads, askLeader, clock }: ReplicaSourceDeps): PageSource => {
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
      if (status !== undefined) return { status, origin: { of: 'leader' } };
      if (leads()) return { status: own(undefined), origin: { of: 'leader' } };
      return { status: own(undefined), origin: { of: 'standby', ...(failed && { problem: failed.problem }) } };
    },
    shoot: async (namespace, signal) => ((await ofLeader(namespace, signal)) ?? own(namespace)).shoots[0],
  };
};
