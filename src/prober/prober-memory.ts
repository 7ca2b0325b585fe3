import type { ExternalProbeMemory } from './external-prober.ts';
import type { LifecycleDecision, ShootSettings } from './judge/lifecycle.ts';
import type { ProbeMemory } from './judge/probe-memory.ts';
import type { ShootProberState } from './plan/shoot-state.ts';

/** What a prober of the same shoot goes on with after a change of the configuration. */
export interface ProberMemory {
  readonly probe: ProbeMemory;
  /** Monotonic milliseconds: a back-off holds across the change. */
  readonly nextRunAt: number;
  readonly settings: ShootSettings;
  /** What keeps a standby from writing again. */
  readonly standby: Pick<ShootProberState, 'scaledWithoutLead' | 'leftToLeaderUntil' | 'wasPaused'>;
  readonly externalProbe?: ExternalProbeMemory;
}

/** `first`: when the first run is due, or the memory of the prober before. */
export interface ProberStart {
  /** Its namespace in the seed, or `namespace/cluster` where clusters share one. Log, metrics and status show it as `namespace`. */
  readonly cluster: string;
  readonly settings: ShootSettings;
  readonly first: { readonly delayMs: number } | ProberMemory;
}

/** What one configuration leaves to the next, by Cluster. */
export interface ProberMemories {
  readonly probers: ReadonlyMap<string, ProberMemory>;
  /** What was decided for those that have not yet given back all: another configuration would not come to it again. */
  readonly releasing: ReadonlyMap<string, LifecycleDecision>;
}

/** A scale-down that runs or waits is not remembered: the next prober judges anew, at once. */
const isGoingDown = ({ flow, next }: ShootProberState): boolean =>
  [flow, next].some((one) => one?.direction === 'down');

export const memoryOf = (
  state: ShootProberState,
  now: number,
): Pick<ProberMemory, 'probe' | 'nextRunAt' | 'standby'> => {
  const { probe, nextRunAt, flow, scaledWithoutLead, leftToLeaderUntil, wasPaused } = state;
  const hasScaled = flow?.withoutLead !== undefined && flow.operations.some(({ mayHaveWritten }) => mayHaveWritten);
  return {
    probe,
    nextRunAt: isGoingDown(state) ? now : nextRunAt,
    standby: {
      ...(scaledWithoutLead === true || hasScaled ? { scaledWithoutLead: true } : {}),
      ...(leftToLeaderUntil === undefined ? {} : { leftToLeaderUntil }),
      ...(wasPaused === undefined ? {} : { wasPaused }),
    },
  };
};
