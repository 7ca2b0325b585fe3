import type { LifecycleDecision, ShootSettings } from './clusters/lifecycle.ts';
import { type ProbeMemory, emptyProbeMemory } from './judge/judgement.ts';
import type { ShootProberState } from './scale/advance-shoot.ts';

/** State with which the next prober of the same shoot continues after a change of the configuration. */
export interface ProberMemory {
  readonly probe: ProbeMemory;
  /** Monotonic instant in milliseconds. A back-off continues across the change. */
  readonly nextRunAt: number;
  readonly settings: ShootSettings;
}

/** Start of a prober. `first`: the delay of the first run, or the memory of the previous prober. */
export interface ProberStart {
  /** Name of the cluster: its namespace in the seed. Log, metrics and status show it as `namespace`. */
  readonly cluster: string;
  readonly settings: ShootSettings;
  readonly first: { readonly delayMs: number } | ProberMemory;
}

/** Returns the memory with which a prober starts at `now`, in monotonic milliseconds. */
export const initialMemory = (first: ProberStart['first'], now: number): Omit<ProberMemory, 'settings'> =>
  'delayMs' in first ? { probe: emptyProbeMemory, nextRunAt: now + first.delayMs } : first;

/** State that one configuration leaves to the next, by Cluster. */
export interface ProberMemories {
  readonly probers: ReadonlyMap<string, ProberMemory>;
  /** Decisions for clusters whose resources are not all released yet. Another configuration would not decide the same again. */
  readonly releasing: ReadonlyMap<string, LifecycleDecision>;
}

/** Returns the memory of a prober. A scale-down is not remembered: the next prober judges again at once. */
export const memoryOf = (
  { probe, nextRunAt, desired }: ShootProberState,
  now: number,
): Pick<ProberMemory, 'probe' | 'nextRunAt'> => ({ probe, nextRunAt: desired?.direction === 'down' ? now : nextRunAt });
