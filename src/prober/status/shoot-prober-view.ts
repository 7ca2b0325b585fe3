import type { ProbeSettings } from '../judge/probe-input.ts';
import type { ShootProberState } from '../plan/shoot-state.ts';
import type { HeldInShoot, ResourceInShoot } from './schema.ts';

/** The state of a shoot's prober at one moment. */
export interface ShootProberView {
  readonly state: ShootProberState;
  readonly settings: ProbeSettings;
  readonly held: readonly HeldInShoot[];
  /** Resources that `ignore-scaling` keeps from being scaled down. */
  readonly ignored: readonly ResourceInShoot[];
  /** True if a resource is up that an outage requires to be down. */
  readonly isUnmet: boolean;
}
