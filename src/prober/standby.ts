import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { LeaderWatch, Leadership } from '../kubernetes/api/leadership.ts';
import type { Clock } from '../ports/clock.ts';
import type { ShootProberState } from './plan/shoot-state.ts';
import type { Role } from './plan/without-lead.ts';

/**
 * What a replica does while another leads: `hot` observes, and scales down where the leader cannot be at work; `warm` observes; `cold` waits, as the Go program
 * does, and begins to observe when it leads.
 */
export type Standby = 'hot' | 'warm' | 'cold';

export interface RoleSources {
  readonly standby: Standby;
  readonly leadership: Leadership;
  /** Absent without leader election. */
  readonly leaderWatch?: LeaderWatch | undefined;
}

/** What this process may send now. */
export const roleOf = ({ standby, leadership, leaderWatch }: RoleSources): Role => ({
  leads: leadership.mayWrite(),
  isHotStandby: standby === 'hot' && leaderWatch !== undefined,
  leaderSilentMs: leaderWatch?.silentMs(),
  silenceLimitMs: leaderWatch?.silenceLimitMs ?? Number.POSITIVE_INFINITY,
});

export interface WithoutLeadDeps {
  readonly clock: Clock;
  /** The seed for writes without the lead: refuses them while neither this process leads nor `mayWrite` holds, at the moment they would leave. */
  readonly seedWithoutLead?: (mayWrite: () => boolean) => KubeClient;
}

/** Writes without the lead leave only within this time after the latest step of the shoot's loop, which saw a reason for them: not on waking from a suspension. */
const writesStandMs = 10_000;

/** The writes without the lead of one shoot. */
export class WritesWithoutLead {
  readonly #deps: WithoutLeadDeps;
  #client: KubeClient | undefined;
  /** Monotonic instant. */
  #standUntil = Number.NEGATIVE_INFINITY;

  constructor(deps: WithoutLeadDeps) {
    this.#deps = deps;
  }

  /** The shoot's loop has come to this state. */
  stepped({ flow, verdict }: Pick<ShootProberState, 'flow' | 'verdict'>): void {
    const isDue = flow?.withoutLead !== undefined && verdict?.kind === 'unhealthy';
    this.#standUntil = isDue ? this.#deps.clock.monotonic() + writesStandMs : Number.NEGATIVE_INFINITY;
  }

  client(): KubeClient | undefined {
    const { clock, seedWithoutLead } = this.#deps;
    this.#client ??= seedWithoutLead?.(() => clock.monotonic() < this.#standUntil);
    return this.#client;
  }
}
