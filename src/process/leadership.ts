import { hostname } from 'node:os';
import type { Kube } from '../kubernetes/api/kube.ts';
import type { Leadership } from '../kubernetes/api/leadership.ts';
import { type TrackedWrites, createKubeClient } from '../kubernetes/client/index.ts';
import { createLeaderElector } from '../kubernetes/leaderelection/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { Runnable } from './lifecycle.ts';
import type { LeaderElectionSettings } from './settings.ts';

export interface ElectionDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** To the seed, without a rate limit: a renewal that waits behind other requests loses the Lease. */
  readonly kube: Kube;
  /** Of the controllers. */
  readonly writes: Pick<TrackedWrites, 'ended' | 'abort'>;
}

export interface Election {
  readonly leadership: Leadership;
  /** What has to run before anything that writes; nothing without leader election. */
  readonly runnables: readonly Runnable[];
}

/** Leadership of a component: held at once without leader election, else by the Lease `name`. */
export const createElection = (settings: LeaderElectionSettings, name: string, deps: ElectionDeps): Election => {
  if (!settings.enabled) return { leadership: { mayWrite: () => true }, runnables: [] };
  const { clock, random } = deps;
  const suffix = Math.floor(random.next() * 2 ** 48).toString(16);
  let started: () => void = () => undefined;
  const elector = createLeaderElector({
    ...deps,
    ...settings,
    client: createKubeClient({ kube: deps.kube, clock }),
    lease: { namespace: settings.namespace, name },
    identity: `${hostname()}_${suffix}`,
    onStarted: () => started(),
    onStopped: async (end) => {
      // When the time for a stop is up before, the Lease is not released and runs out by itself.
      if (end === 'stopped') await deps.writes.ended();
      // Another may lead: what has not reached the API server yet must not.
      else deps.writes.abort('leadership is lost');
    },
  });
  const runnable: Runnable = {
    name: 'leader election',
    run: async (signal, ready) => {
      started = ready;
      const end = await elector.run(signal);
      if (end === 'lost') throw new Error('leadership was lost: exiting, to start again as a standby');
    },
  };
  return { leadership: elector, runnables: [runnable] };
};
