import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { LeaderWatch, Leadership } from '../kubernetes/api/leadership.ts';
import type { Clock } from '../ports/clock.ts';
import type { ShootProberState } from './plan/shoot-state.ts';
import type { Role } from './plan/without-lead.ts';

/**
 * Behaviour of a replica while another leads: `hot` observes, and scales down if the leader cannot be at work; `warm` observes; `cold` waits, as the Go program
 * does, and begins to observe when it leads.
 */
export type Standby = 'hot' | 'warm' | 'cold';

export interface RoleSources {
  readonly standby: Standby;
  readonly leadership: Leadership;
  /** Absent without leader election. */
  readonly leaderWatch?: LeaderWatch | undefined;
}

/** Returns which writes this process may send now. */
export const roleOf = ({ standby, leadership, leaderWatch }: RoleSources): Role => ({
  leads: leadership.mayWrite(),
  isHotStandby: standby === 'hot' && leaderWatch !== undefined,
  leaderSilentMs: leaderWatch?.silentMs(),
  silenceLimitMs: leaderWatch?.silenceLimitMs ?? Number.POSITIVE_INFINITY,
});

export interface WithoutLeadDeps {
  readonly clock: Clock;
  /**
   * Returns a client of the seed for writes without the lead. It refuses a write at the moment of sending if this process does not lead and `mayWrite` returns
   * false.
   */
  readonly seedWithoutLead?: (mayWrite: () => boolean) => KubeClient;
}

/**
 * Writes without the lead are sent only within this time, in milliseconds, after the latest step of the shoot's loop, which saw a reason for them: none is sent
 * after the process was suspended.
 */
const mayWriteForMs = 10_000;

/** Allows the writes without the lead of one shoot. */
export class WritesWithoutLead {
  readonly #deps: WithoutLeadDeps;
  #client: KubeClient | undefined;
  /** Monotonic instant until which writes may be sent. */
  #mayWriteUntil = Number.NEGATIVE_INFINITY;

  constructor(deps: WithoutLeadDeps) {
    this.#deps = deps;
  }

  /** Called after each step of the shoot's loop. */
  stepped({ flow, verdict }: Pick<ShootProberState, 'flow' | 'verdict'>): void {
    const isDue = flow?.withoutLead !== undefined && verdict?.kind === 'unhealthy';
    this.#mayWriteUntil = isDue ? this.#deps.clock.monotonic() + mayWriteForMs : Number.NEGATIVE_INFINITY;
  }

  client(): KubeClient | undefined {
    const { clock, seedWithoutLead } = this.#deps;
    this.#client ??= seedWithoutLead?.(() => clock.monotonic() < this.#mayWriteUntil);
    return this.#client;
  }
}
