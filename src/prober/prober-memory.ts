import type { ExternalProbeMemory } from './external-prober.ts';
import type { ShootSettings } from './judge/lifecycle.ts';
import type { ProbeMemory } from './judge/verdict.ts';

/** What a prober of the same shoot goes on with after a change of the configuration. */
export interface ProberMemory {
  readonly probe: ProbeMemory;
  /** Monotonic milliseconds: a back-off holds across the change. */
  readonly nextRunAt: number;
  readonly settings: ShootSettings;
  readonly externalProbe?: ExternalProbeMemory;
}

/** `first`: when the first run is due, or the memory of the prober before. */
export interface ProberStart {
  readonly namespace: string;
  readonly settings: ShootSettings;
  readonly first: { readonly delayMs: number } | ProberMemory;
}
