import type { Clock } from '../../ports/clock.ts';
import type { Decision } from '../judge/decision.ts';
import { type LeaseCounts, type VerdictName, verdictNameOf } from '../judge/verdict.ts';
import { leaderTimeMs } from '../plan/permission.ts';
import { type ClockReading, formatWall, timeAt } from '../status/clock-reading.ts';
import { type ActWord, DecisionLog } from '../status/decision-log.ts';
import { countLeases, leaseEvidence } from '../status/lease-evidence.ts';
import { nextStep, pauseInWords } from '../status/next-step.ts';
import { protectionState } from '../status/protection-state.ts';
import { scalingProgress } from '../status/scaling-progress.ts';
import type { HeldInShoot, HeldUnprobed, PauseInForce, ProbedShoot, ProtectionState } from '../status/schema.ts';
import { type Emit, type EventOf, type ShootProberView, observer } from './events.ts';
import { writeIn } from './sentences.ts';

/** Name of a shoot and its project, if its Cluster has them. */
export interface ShootName {
  readonly project?: string;
  readonly name: string;
}

/** What is true of a shoot at one moment. Status and metrics show it. */
export interface ShootFacts extends ShootProberView {
  readonly cluster: string;
  readonly protection: ProtectionState;
  readonly pause?: PauseInForce;
  /** Name of the latest verdict; absent before the first. */
  readonly verdict?: VerdictName;
  /** When the latest run ended, before that when the first one is due, in milliseconds since the epoch. Infinity if none is. */
  readonly lastRunAt: number;
  /** Since when resources are held: by their notes, else since this process has seen it. Absent if none is. */
  readonly heldSince?: number;
  readonly isFlapping: boolean;
  /** True if an outage continues, and a resource stays up that it requires to be down. */
  readonly isUnmet: boolean;
}

interface RecordOptions {
  readonly dryRun: boolean;
  /** Returns the pause in force, of this cluster or of all. */
  readonly pauseOf: (cluster: string) => PauseInForce | undefined;
}

type Wrote = EventOf<'response-received'>;

const titleOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string => `${kind} ${name}`;

/** True if a resource stays up that an outage requires to be down: longer than the leader may take, or because of a pause. */
const staysUnmet = (
  { state: { desired, unmetSince }, isAnyUp }: ShootProberView,
  { monotonic }: ClockReading,
): boolean =>
  isAnyUp && desired?.direction === 'down' && (unmetSince === undefined || monotonic >= unmetSince + leaderTimeMs);

const nothingLeftOut: ReadonlyMap<string, string> = new Map();

/** The state of one shoot, kept across changes of the configuration. */
class ShootRecord {
  readonly #cluster: string;
  readonly #options: RecordOptions;
  readonly #firstRunAt: number;
  readonly #decisions = new DecisionLog();
  /** Returns the current state of the shoot's prober. */
  readView: () => ShootProberView;
  #lastRunEndedAt: number | undefined;
  #verdict: VerdictName | undefined;
  #counts: LeaseCounts | undefined;
  #leftOut = nothingLeftOut;
  #nodes: number | undefined;
  #marginMs: number | undefined;
  #state: ProtectionState | undefined;
  #since = 0;
  #pause: PauseInForce | undefined;
  /** Resources that were held at the last check, since when some are, and resources that this prober has restored since. */
  #held: readonly string[] = [];
  #heldSeenAt = 0;
  readonly #restored = new Set<string>();

  constructor(
    readView: () => ShootProberView,
    given: RecordOptions & { readonly cluster: string; readonly reading: ClockReading },
  ) {
    const { cluster, reading, ...options } = given;
    this.#cluster = cluster;
    this.#options = options;
    this.#firstRunAt = reading.wall + readView().state.nextRunAt - reading.monotonic;
    this.readView = readView;
  }

  get lastRunEndedAt(): number | undefined {
    return this.#lastRunEndedAt;
  }

  /** True if the prober probes the shoot. Another kind of prober only releases resources that an earlier process held. */
  get isProbed(): boolean {
    return Number.isFinite(this.readView().state.nextRunAt);
  }

  runEnded({ verdict, reason, counts, leftOut = nothingLeftOut, nodes }: Decision, { wall }: ClockReading): void {
    const threshold = this.readView().settings.nodeLeaseFailureFraction;
    this.#lastRunEndedAt = wall;
    this.#verdict = verdictNameOf(verdict);
    this.#counts = counts;
    if (verdict.kind !== 'failed') {
      this.#leftOut = leftOut;
      this.#nodes = nodes;
    }
    this.#decisions.add({ at: wall, verdict: this.#verdict, reason, counts, threshold });
  }

  /** Notes a write that was accepted. Leaves out a write that only stores the former count, because the write of the count itself follows. */
  responded(response: Wrote, { wall }: ClockReading): void {
    const { ref, graceDeadline, now } = response;
    const write = writeIn(response);
    if (write === undefined || write.error !== undefined || ref === undefined) return;
    const { effect, act, counts = 'its mark is removed', direction } = write;
    if (effect === undefined && direction === 'down') return;
    const title = titleOf(ref);
    if (effect !== 'down') this.#restored.add(title);
    else if (graceDeadline !== undefined) this.#marginMs = graceDeadline.graceEndsAt - now;
    const word = effect === undefined ? 'given back' : act;
    this.#did(word as ActWord, `${this.#options.dryRun ? 'dry run: ' : ''}${title}, ${counts}`, wall);
  }

  /** Notes what has changed since the last call, and returns what is true now. */
  facts(reading: ClockReading): ShootFacts {
    const { dryRun, pauseOf } = this.#options;
    const { wall } = reading;
    const view = this.readView();
    const { state, held } = view;
    const pause = pauseOf(this.#cluster);
    this.#notePause(pause, wall);
    this.#noteHeld(view, wall);
    const isFlapping = state.probe.outage?.isFlapping === true;
    const protection = protectionState({
      verdict: state.verdict,
      counts: this.#counts,
      scaling: state.scaling,
      isAnyHeld: held.length > 0,
      isPaused: pause !== undefined,
      isFlapping,
      isDryRun: dryRun,
    });
    if (protection !== this.#state) this.#since = wall;
    this.#state = protection;
    return {
      ...view,
      cluster: this.#cluster,
      protection,
      pause,
      verdict: this.#verdict,
      lastRunAt: this.#lastRunEndedAt ?? this.#firstRunAt,
      heldSince: held.length === 0 ? undefined : (earliest(held) ?? this.#heldSeenAt),
      isFlapping,
      isUnmet: !dryRun && staysUnmet(view, reading),
    };
  }

  /** True if nothing is held in an outage although something could be. */
  get isUnprotected(): boolean {
    const { isAnyUp, held } = this.readView();
    return isAnyUp && held.length === 0 && this.#options.pauseOf(this.#cluster) === undefined;
  }

  /** Returns the shoot as a list of all shoots shows it. */
  row(name: ShootName | undefined, reading: ClockReading): ProbedShoot {
    const { state, settings, held, ignored, protection, pause, isFlapping, isUnmet } = this.facts(reading);
    const next = nextStep({ state, protection, pause, isUnmet });
    const counts = this.#counts ?? countLeases({ memory: state.probe, leftOut: this.#leftOut });
    return {
      namespace: this.#cluster,
      ...(name?.project === undefined ? {} : { project: name.project }),
      name: name?.name ?? this.#cluster,
      state: protection,
      since: formatWall(
        protection === 'protected' ? Math.min(this.#since, earliest(held) ?? this.#since) : this.#since,
      ),
      reason: this.#decisions.reason ?? 'not probed yet',
      next: { text: next.text, ...(next.at === undefined ? {} : { at: timeAt(next.at, reading) }) },
      ...counts,
      ...(this.#nodes === undefined ? {} : { nodes: this.#nodes, leftOut: this.#leftOut.size }),
      leaseExpiryMs: settings.expiryAgeMs,
      graceMs: settings.graceMs,
      ...(this.#lastRunEndedAt === undefined ? {} : { lastRunEndedAt: formatWall(this.#lastRunEndedAt) }),
      flapping: isFlapping,
      paused: pause ?? null,
      ...(this.#marginMs === undefined ? {} : { marginMs: Math.round(this.#marginMs) }),
      held: [...held],
      ...(isUnmet ? { unmet: true } : {}),
      ...(ignored.length === 0 ? {} : { ignored }),
    };
  }

  /** Returns the row, and the evidence for the latest verdict. */
  details(name: ShootName | undefined, reading: ClockReading): ProbedShoot {
    const { state, settings } = this.readView();
    return {
      ...this.row(name, reading),
      threshold: settings.nodeLeaseFailureFraction,
      leases: leaseEvidence({ memory: state.probe, leftOut: this.#leftOut }, reading),
      scaling: state.scaling === undefined ? null : scalingProgress(state.scaling, reading),
      decisions: this.#decisions.all().map(({ at, lastAt, counts, ...decision }) => ({
        at: formatWall(at),
        lastAt: formatWall(lastAt),
        ...decision,
        ...counts,
      })),
    };
  }

  #did(verdict: ActWord, reason: string, at: number): void {
    this.#decisions.note({ at, verdict, reason, threshold: this.readView().settings.nodeLeaseFailureFraction });
  }

  #notePause(pause: PauseInForce | undefined, wall: number): void {
    const before = this.#pause;
    this.#pause = pause;
    if (pause === undefined) {
      if (before !== undefined) this.#did('resumed', 'the pause is over', wall);
    } else if (before === undefined || pauseInWords(before) !== pauseInWords(pause)) {
      this.#did('paused', pauseInWords(pause), wall);
    }
  }

  /** Notes since when resources are held, and those that are no longer held although this prober has not restored them. */
  #noteHeld({ state, held }: ShootProberView, wall: number): void {
    const before = this.#held;
    this.#held = held.map(titleOf);
    if (before.length === 0) this.#heldSeenAt = wall;
    const isRestoring = state.scaling !== undefined && state.scaling.direction !== 'down';
    for (const title of before) {
      if (this.#held.includes(title)) continue;
      const isOurs = this.#restored.delete(title) || isRestoring;
      if (!isOurs) this.#did('released', `${title} is no longer held, but this prober did not release it`, wall);
    }
  }
}

/** Returns the earliest time in the notes of held resources, in milliseconds since the epoch. */
const earliest = (held: readonly HeldInShoot[]): number | undefined => {
  const times = held.flatMap(({ since }) => (since === undefined ? [] : [Date.parse(since)]));
  return times.length === 0 ? undefined : Math.min(...times);
};

export interface ShootStatesOptions extends RecordOptions {
  readonly clock: Clock;
}

/** Lists the held resources of clusters that are not probed. */
type ListUnprobed = (isProbed: (cluster: string) => boolean) => readonly HeldUnprobed[];

/** The state of all shoots of a process, kept across changes of the configuration. */
export class ShootStates {
  readonly #options: ShootStatesOptions;
  #nameOf: (cluster: string) => ShootName | undefined = () => undefined;
  #listUnprobed: ListUnprobed = () => [];
  readonly #records = new Map<string, ShootRecord>();
  /** Shoots that are still to be probed in the current round. */
  #awaited = new Set<string>();
  #lastRoundEndedAt: number | undefined;
  #latestRows: Read<ProbedShoot> | undefined;
  #latestFacts: Read<ShootFacts> | undefined;

  constructor(options: ShootStatesOptions) {
    this.#options = options;
  }

  readonly observe: Emit = observer({
    stepped: ({ cluster, readView }) => this.#stepped(cluster, readView),
    'run-ended': ({ cluster, result }) => {
      this.#records.get(cluster)?.runEnded(result.decision, this.#reading());
      this.#awaited.delete(cluster);
      this.#endRound();
    },
    'response-received': (event) => this.#records.get(event.cluster)?.responded(event, this.#reading()),
    forgotten: ({ cluster }) => {
      this.#records.delete(cluster);
      if (this.#awaited.delete(cluster)) this.#endRound();
    },
  });

  /** Sets the functions that name the shoots, and that list the held resources of shoots without a prober. */
  readFrom(nameOf: (cluster: string) => ShootName | undefined, listUnprobed: ListUnprobed): void {
    this.#nameOf = nameOf;
    this.#listUnprobed = listUnprobed;
  }

  /** Returns the held resources of shoots without a prober: of all shoots, or of the one with this name. */
  heldUnprobed(wanted?: string): readonly HeldUnprobed[] {
    const found = this.#listUnprobed((name) => this.#records.has(name));
    return found.filter(({ namespace }) => wanted === undefined || namespace === wanted);
  }

  /** See `ShootRecord.isUnprotected`; false for a shoot without a prober. */
  isUnprotected(cluster: string): boolean {
    return this.#records.get(cluster)?.isUnprotected === true;
  }

  /** Returns the end of the last round, in RFC 3339; undefined before the first round has ended. */
  lastRoundEndedAt(): string | undefined {
    return this.#lastRoundEndedAt === undefined ? undefined : formatWall(this.#lastRoundEndedAt);
  }

  /** Returns the rows of all shoots: those of an earlier call if they are younger than `maxAgeMs`, so that frequent requests cost no more than rare ones. */
  rows(maxAgeMs = 0): readonly ProbedShoot[] {
    const readRow = (record: ShootRecord, cluster: string, reading: ClockReading): ProbedShoot =>
      record.row(this.#nameOf(cluster), reading);
    this.#latestRows = this.#readAll(readRow, { latest: this.#latestRows, maxAgeMs });
    return this.#latestRows.values;
  }

  /** Returns what is true of all shoots; `maxAgeMs` as above. */
  facts(maxAgeMs = 0): readonly ShootFacts[] {
    const readFacts = (record: ShootRecord, _: string, reading: ClockReading): ShootFacts => record.facts(reading);
    this.#latestFacts = this.#readAll(readFacts, { latest: this.#latestFacts, maxAgeMs });
    return this.#latestFacts.values;
  }

  /** Returns the shoot of this name. Empty if it is not probed. */
  details(name: string): readonly ProbedShoot[] {
    const record = this.#records.get(name);
    return record === undefined ? [] : [record.details(this.#nameOf(name), this.#reading())];
  }

  #reading(): ClockReading {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  #readAll<T>(
    read: (record: ShootRecord, cluster: string, reading: ClockReading) => T,
    { latest, maxAgeMs }: { readonly latest: Read<T> | undefined; readonly maxAgeMs: number },
  ): Read<T> {
    const reading = this.#reading();
    if (latest !== undefined && reading.monotonic - latest.at < maxAgeMs) return latest;
    const values = Array.from(this.#records, ([cluster, record]) => read(record, cluster, reading));
    return { at: reading.monotonic, values };
  }

  #stepped(cluster: string, readView: () => ShootProberView): void {
    const reading = this.#reading();
    const record = this.#records.get(cluster) ?? new ShootRecord(readView, { ...this.#options, cluster, reading });
    this.#records.set(cluster, record);
    // Another prober of the same shoot may have taken over.
    record.readView = readView;
    record.facts(reading);
  }

  #endRound(): void {
    if (this.#awaited.size > 0) return;
    const records = [...this.#records].filter(([, { isProbed }]) => isProbed);
    if (records.length === 0 || records.some(([, { lastRunEndedAt }]) => lastRunEndedAt === undefined)) return;
    this.#lastRoundEndedAt = this.#options.clock.now();
    this.#awaited = new Set(records.map(([cluster]) => cluster));
  }
}

interface Read<T> {
  /** Monotonic instant in milliseconds. */
  readonly at: number;
  readonly values: readonly T[];
}
