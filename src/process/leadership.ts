import { hostname } from 'node:os';
import type { Kube } from '../kubernetes/api/kube.ts';
import type { LeaderWatch, Leadership } from '../kubernetes/api/leadership.ts';
import { type WriteTracker, createKubeClient } from '../kubernetes/client/index.ts';
import { LeaderElector } from '../kubernetes/leaderelection/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { Runnable } from './lifecycle.ts';
import type { LeaderElectionSettings } from './settings.ts';

export interface ElectionDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Sends to the seed over a connection of its own, without a rate limit: a renewal that waits behind other requests loses the Lease. */
  readonly kube: Kube;
  /** Tracks the writes of the controllers. */
  readonly writes: WriteTracker;
  /** True if controllers start before this process leads, and check its leadership themselves. */
  readonly runsOnStandby?: boolean;
}

export interface Election {
  /** Identity of this process: the host name, which in a pod is the pod's name. With leader election `HOST_RANDOM`, as in the Lease's `holderIdentity`. */
  readonly identity: string;
  readonly leadership: Leadership;
  /** Absent without leader election. */
  readonly leaderWatch?: LeaderWatch;
  /** Runnables that must start before any that write. Empty without leader election. */
  readonly runnables: readonly Runnable[];
}

/** Creates the leader election of a component with the Lease `name`. Without leader election the process leads at once. */
export const createElection = (settings: LeaderElectionSettings, name: string, deps: ElectionDeps): Election => {
  const { clock, random, writes, runsOnStandby = false } = deps;
  if (!settings.enabled) return { identity: hostname(), leadership: { mayWrite: () => true }, runnables: [] };
  const identity = `${hostname()}_${Math.floor(random.next() * 2 ** 48).toString(16)}`;
  const elector = new LeaderElector({
    ...deps,
    ...settings,
    client: createKubeClient({ kube: deps.kube, clock }),
    lease: { namespace: settings.namespace, name },
    identity,
    onStopped: async (end) => {
      // If the stop times out before the writes end, the Lease is not released and expires by itself.
      if (end === 'stopped') await writes.ended();
      // Another replica may lead by now: writes that have not reached the API server must not do so.
      else writes.abort('leadership is lost');
    },
  });
  const runnable: Runnable = {
    name: 'leader election',
    run: async (signal, ready) => {
      if (runsOnStandby) ready();
      else elector.onLead(ready);
      const end = await elector.run(signal);
      if (end === 'lost') throw new Error('leadership was lost: exiting, to start again as a standby');
    },
  };
  return { identity, leadership: elector, leaderWatch: elector, runnables: [runnable] };
};
