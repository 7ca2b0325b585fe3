import type { Clock } from '../../ports/clock.ts';
import type { ProberStatus } from '../../prober/status/schema.ts';
import type { AskLeader } from './leader.ts';
import type { PageSource } from './seed-feed.ts';

export interface ReplicaSourceDeps {
  /** What this replica knows itself; `shoot`: a namespace. */
  readonly own: (shoot: string | undefined) => ProberStatus;
  readonly leads: () => boolean;
  /** Absent without leader election. */
  readonly askLeader?: AskLeader | undefined;
  readonly clock: Clock;
}

/** A leader that did not answer is asked again after so long, in milliseconds. */
const retryMs = 10_000;

/** What the leader knows; in a replica that cannot ask it, what this one knows itself, and why. */
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
