import type { ProbeSettings } from '../judge/probe-input.ts';
import type { ShootProberState } from '../plan/shoot-state.ts';
import type { HeldInShoot, ResourceInShoot } from './schema.ts';

/** A shoot's prober at one moment. */
export interface ShootSight {
  readonly state: ShootProberState;
  readonly settings: ProbeSettings;
  readonly held: readonly HeldInShoot[];
  /** What `ignore-scaling` keeps from being scaled down. */
  readonly ignored: readonly ResourceInShoot[];
  /** Something else is up that a scale-down would scale down. */
  readonly isLeftUp: boolean;
}
