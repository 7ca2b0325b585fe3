import { abortable } from '../../kubernetes/transport/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ShootProberState } from '../scale/advance-shoot.ts';

/** Maximum number of probes that start in one turn of the event loop: 16 new connections cost some 30 ms of CPU. */
const mostPerTurn = 16;
/** A turn that takes longer than this, in milliseconds, delays renewals of the Lease and scale-downs. */
const lateMs = 50;
/** For this time after such a turn, in milliseconds, a single probe starts per turn. */
const calmMs = 1_000;

export interface ProbeStart {
  /** Monotonic instant at which the probe is needed. The waiting probe that is needed first starts first. */
  readonly neededBy: number;
  readonly signal: AbortSignal;
}

/**
 * Returns the monotonic instant by which a run that is due now must end: when KCM may mark the next node as unhealthy if no lease is renewed. It is `now` if
 * no leases are known yet or a scaling is in progress, and a whole grace period later if the resources are held already.
 */
export const runNeededBy = (
  { probe: { leases }, scaling }: Pick<ShootProberState, 'probe' | 'scaling'>,
  { now, graceMs, isHeld }: { readonly now: number; readonly graceMs: number; readonly isHeld: boolean },
): number => {
  if (scaling !== undefined || leases.length === 0) return now;
  if (isHeld) return now + graceMs;
  const ends = leases.map(({ silentSince }) => silentSince + graceMs).filter((at) => at > now);
  return Math.min(now + graceMs, ...ends);
};

interface Waiting extends ProbeStart {
  readonly start: () => void;
}

/**
 * Spreads the starts of probes, so that a process short of CPU can serve its timers and sockets in between. If the event loop is late, one probe starts per
 * turn: every turn serves the responses of running probes, so that only a few of them share the CPU, however little there is. A probe that only waits for a
 * response delays nobody. Writes do not pass this gate. With a virtual clock no turn is late.
 */
export class ProbeGate {
  readonly #clock: Clock;
  /** Waiting probes; the one that is needed first comes first. */
  readonly #waiting: Waiting[] = [];
  #startedInTurn = 0;
  #cancelTurn: (() => void) | undefined;
  #lateAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of waiting probes. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Stops the gate: no waiting probe starts any more. */
  stop(): void {
    this.#cancelTurn?.();
  }

  /** Resolves when the probe may start. Rejects with the signal's reason on abort. */
  async enter(probe: ProbeStart): Promise<void> {
    probe.signal.throwIfAborted();
    if (this.#waiting.length === 0 && this.#hasRoom()) this.#count();
    else await this.#wait(probe);
  }

  #wait(probe: ProbeStart): Promise<void> {
    return abortable(probe.signal, (start) => {
      const entry = { ...probe, start: () => start(undefined) };
      const before = this.#waiting.findLastIndex(({ neededBy }) => neededBy <= probe.neededBy);
      this.#waiting.splice(before + 1, 0, entry);
      return (hasStarted) => {
        if (!hasStarted) this.#waiting.splice(this.#waiting.indexOf(entry), 1);
      };
    });
  }

  #hasRoom(): boolean {
    const isLate = this.#clock.monotonic() - this.#lateAt < calmMs;
    return this.#startedInTurn < (isLate ? 1 : mostPerTurn);
  }

  #count(): void {
    this.#startedInTurn += 1;
    const began = this.#clock.monotonic();
    this.#cancelTurn ??= this.#clock.timer(0, () => this.#startTurn(began));
  }

  /** Starts a turn of the event loop; the one before began at `began`. */
  #startTurn(began: number): void {
    const now = this.#clock.monotonic();
    if (now - began >= lateMs) this.#lateAt = now;
    this.#cancelTurn = undefined;
    this.#startedInTurn = 0;
    while (this.#waiting.length > 0 && this.#hasRoom()) {
      this.#count();
      this.#waiting.shift()?.start();
    }
  }
}
