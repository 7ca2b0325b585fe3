import type { FoundPause } from '../../annotations/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Pauses } from './pauses.ts';
import type { ShootProberState } from './advance-shoot.ts';
import type { Emit } from '../report/events.ts';

export interface ShootPauseDeps {
  readonly clock: Clock;
  readonly emit: Emit;
  /** Absent if nothing can be paused. */
  readonly pauses?: Pick<Pauses, 'of'>;
}

/** The pause of one shoot: its effect on the shoot's loop, and its reports. */
export class ShootPause {
  readonly #deps: ShootPauseDeps;
  readonly #cluster: string;
  #pause: FoundPause | undefined;
  #wasHeldBack = false;

  constructor(deps: ShootPauseDeps, cluster: string) {
    this.#deps = deps;
    this.#cluster = cluster;
  }

  /** Monotonic instant at which the pause ends, Infinity without an end; undefined if nothing is paused. */
  pausedUntil(): number | undefined {
    const { clock, pauses } = this.#deps;
    this.#pause = pauses?.of(this.#cluster);
    if (this.#pause === undefined) return undefined;
    const { until = Number.POSITIVE_INFINITY } = this.#pause;
    return clock.monotonic() + until - clock.now();
  }

  /** Called after each step of the shoot's loop. */
  stepped({ desired }: Pick<ShootProberState, 'desired'>): void {
    const pause = this.#pause;
    const isHeldBack = pause !== undefined && desired?.direction === 'down';
    if (isHeldBack && !this.#wasHeldBack) {
      this.#deps.emit({ kind: 'held-back', cluster: this.#cluster, pause, reason: desired.reason });
    }
    this.#wasHeldBack = isHeldBack;
  }
}
