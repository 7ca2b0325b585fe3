import type { Clock } from '../../ports/clock.ts';
import type { Decision } from '../judge/decision.ts';
import { type ClockReading, formatWall } from './clock-reading.ts';
import type { HeldUnprobed, PauseInForce, ProbedShoot } from './schema.ts';
import { type Scaled, type ShootName, ShootRecord } from './shoot-record.ts';
import type { ShootProberView } from './shoot-prober-view.ts';

export interface StatusRecorderOptions {
  readonly clock: Clock;
  readonly dryRun: boolean;
  /** Returns the pause in force, of this shoot or of all. */
  readonly pauseOf: (namespace: string) => PauseInForce | undefined;
}

/** Lists the held resources of shoots that are not probed. */
type ListUnprobed = (isProbed: (name: string) => boolean) => readonly HeldUnprobed[];

/** Status of all probers of a process, kept across changes of the configuration. */
export class StatusRecorder {
  readonly #options: StatusRecorderOptions;
  #nameOf: (namespace: string) => ShootName | undefined = () => undefined;
  #listUnprobed: ListUnprobed = () => [];
  readonly #records = new Map<string, ShootRecord>();
  /** Shoots that are still to be probed in the current round. */
  #awaited = new Set<string>();
  #lastRoundEndedAt: number | undefined;
  #latest: { readonly at: number; readonly rows: readonly ProbedShoot[] } | undefined;

  constructor(options: StatusRecorderOptions) {
    this.#options = options;
  }

  /** Sets the function that finds the names of shoots. */
  nameBy(nameOf: (namespace: string) => ShootName | undefined): void {
    this.#nameOf = nameOf;
  }

  /** Sets the function that lists the held resources of shoots without a prober. */
  unprobedBy(list: ListUnprobed): void {
    this.#listUnprobed = list;
  }

  /** Returns the held resources of shoots without a prober: of all shoots, or of the one with this name. */
  heldUnprobed(wanted?: string): readonly HeldUnprobed[] {
    const found = this.#listUnprobed((name) => this.#records.has(name));
    return found.filter(({ namespace }) => wanted === undefined || namespace === wanted);
  }

  /** Called when the prober of a shoot has changed its state. `look` returns the state of that prober from now on. */
  stepped(namespace: string, readView: () => ShootProberView): void {
    const record = this.#records.get(namespace) ?? new ShootRecord(readView);
    this.#records.set(namespace, record);
    record.readThrough(readView);
    record.note(this.#contextOf(namespace), this.#reading());
  }

  runEnded(namespace: string, decision: Decision): void {
    this.#records.get(namespace)?.runEnded(decision, this.#reading());
    this.#awaited.delete(namespace);
    this.#endRound();
  }

  scaledDown(namespace: string, marginMs: number): void {
    this.#records.get(namespace)?.scaledDown(marginMs);
  }

  /** Called after a write of a prober of this process, and in a dry run in place of it. */
  wrote(namespace: string, scaled: Scaled): void {
    this.#records.get(namespace)?.wrote(scaled, this.#options, this.#reading());
  }

  /** Called when the shoot is gone, or no longer probed. */
  forget(namespace: string): void {
    this.#records.delete(namespace);
    if (this.#awaited.delete(namespace)) this.#endRound();
  }

  /** Returns the end of the last round, in RFC 3339; undefined before the first round has ended. */
  lastRoundEndedAt(): string | undefined {
    return this.#lastRoundEndedAt === undefined ? undefined : formatWall(this.#lastRoundEndedAt);
  }

  /** Returns the rows of all shoots: those of an earlier call if they are younger than `maxAgeMs`, so that frequent requests cost no more than rare ones. */
  rows(maxAgeMs = 0): readonly ProbedShoot[] {
    const reading = this.#reading();
    if (this.#latest !== undefined && reading.monotonic - this.#latest.at < maxAgeMs) return this.#latest.rows;
    const rows = [...this.#records].map(([namespace, record]) => record.row(this.#contextOf(namespace), reading));
    this.#latest = { at: reading.monotonic, rows };
    return rows;
  }

  /** Returns the shoot of this name. Empty if it is not probed. */
  details(name: string): readonly ProbedShoot[] {
    const record = this.#records.get(name);
    return record === undefined ? [] : [record.details(this.#contextOf(name), this.#reading())];
  }

  #reading(): ClockReading {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  #contextOf(namespace: string) {
    const { pauseOf, dryRun } = this.#options;
    return { namespace, name: this.#nameOf(namespace), pause: pauseOf(namespace), dryRun };
  }

  #endRound(): void {
    if (this.#awaited.size > 0) return;
    const records = [...this.#records].filter(([, { isProbed }]) => isProbed);
    if (records.length === 0 || records.some(([, { lastRunEndedAt }]) => lastRunEndedAt === undefined)) return;
    this.#lastRoundEndedAt = this.#options.clock.now();
    this.#awaited = new Set(records.map(([namespace]) => namespace));
  }
}
