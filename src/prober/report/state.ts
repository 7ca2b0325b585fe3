import type { Clock } from '../../ports/clock.ts';
import type { Decision } from '../judge/decision.ts';
import { type LeaseCounts, type VerdictName, verdictNameOf } from '../judge/verdict.ts';
import { leaderTimeMs } from '../plan/permission.ts';
import type { ClockReading } from '../status/clock-reading.ts';
import { type ActWord, DecisionLog, type LoggedDecision } from '../status/decision-log.ts';
import { pauseInWords } from '../status/next-step.ts';
import { protectionState } from '../status/protection-state.ts';
import type { HeldInShoot, HeldUnprobed, PauseInForce, ProtectionState } from '../status/schema.ts';
import { type Emit, type EventOf, type ShootProberView, observer } from './events.ts';
import { writeIn } from './sentences.ts';

/** Name of a shoot and its project, if its Cluster has them. */
export interface ShootName {
  readonly project?: string;
  readonly name: string;
}

/** What the runs and writes so far leave. Wall times are milliseconds since the epoch. */
interface Remembered {
  /** When the latest run ended; absent before the first. */
  readonly lastRunEndedAt?: number;
  /** Name of the latest verdict, and its reason. */
  readonly verdict?: VerdictName;
  readonly reason: string;
  /** Counts of the latest run, if it listed nodes. */
  readonly counts?: LeaseCounts;
  /** See `Decision`: those of the latest run with a verdict. */
  readonly leftOut: ReadonlyMap<string, string>;
  readonly nodes?: number;
  /** Rest of KCM's grace period at the last write of a scale-down, in milliseconds. */
  readonly marginMs?: number;
}

/** What is true of a shoot at one moment. Status and metrics show it. */
export interface ShootFacts extends ShootProberView, Remembered {
  readonly cluster: string;
  /** The moment. */
  readonly reading: ClockReading;
  readonly protection: ProtectionState;
  /** Since when the protection has this state. */
  readonly since: number;
  readonly pause?: PauseInForce;
  readonly isFlapping: boolean;
  /** True if an outage continues, and a resource stays up that it requires to be down. */
  readonly isUnmet: boolean;
  /** Since when resources are held: by their notes, else since this process has seen it. Absent if none is. */
  readonly heldSince?: number;
  /** When the first run was due. Infinity for a prober that only releases. */
  readonly firstRunAt: number;
  readonly decisions: readonly LoggedDecision[];
}

interface RecordOptions {
  readonly dryRun: boolean;
  /** Returns the pause in force, of this cluster or of all. */
  readonly pauseOf: (cluster: string) => PauseInForce | undefined;
}

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
  #remembered: Remembered = { reason: 'not probed yet', leftOut: nothingLeftOut };
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
    return this.#remembered.lastRunEndedAt;
  }

  /** True if the prober probes the shoot. Another kind of prober only releases resources that an earlier process held. */
  get isProbed(): boolean {
    return Number.isFinite(this.readView().state.nextRunAt);
  }

  runEnded({ verdict, reason, counts, leftOut = nothingLeftOut, nodes }: Decision, { wall }: ClockReading): void {
    const threshold = this.readView().settings.nodeLeaseFailureFraction;
    const name = verdictNameOf(verdict);
    const added = this.#decisions.add({ at: wall, verdict: name, reason, counts, threshold });
    this.#remembered = { ...this.#remembered, lastRunEndedAt: wall, verdict: name, reason: added.reason, counts };
    if (verdict.kind === 'failed') return;
    this.#remembered = { ...this.#remembered, leftOut, nodes };
  }

  /** Notes a write that was accepted. Leaves out a write that only stores the former count, because the write of the count itself follows. */
  responded(response: EventOf<'response-received'>, { wall }: ClockReading): void {
    const { ref, graceDeadline, now } = response;
    const write = writeIn(response);
    if (write === undefined || write.error !== undefined || ref === undefined) return;
    const { effect, act, counts = 'its mark is removed', direction } = write;
    if (effect === undefined && direction === 'down') return;
    const title = titleOf(ref);
    if (effect !== 'down') this.#restored.add(title);
    else if (graceDeadline !== undefined) {
      this.#remembered = { ...this.#remembered, marginMs: graceDeadline.graceEndsAt - now };
    }
    const word = act === 'annotated' ? 'given back' : act;
    this.#did(word, `${this.#options.dryRun ? 'dry run: ' : ''}${title}, ${counts}`, wall);
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
      counts: this.#remembered.counts,
      scaling: state.scaling,
      isAnyHeld: held.length > 0,
      isPaused: pause !== undefined,
      isFlapping,
      isDryRun: dryRun,
    });
    if (protection !== this.#state) this.#since = wall;
    this.#state = protection;
    const noted = earliest(held);
    return {
      ...view,
      ...this.#remembered,
      cluster: this.#cluster,
      reading,
      protection,
      since: protection === 'protected' ? Math.min(this.#since, noted ?? this.#since) : this.#since,
      pause,
      isFlapping,
      isUnmet: !dryRun && staysUnmet(view, reading),
      heldSince: held.length === 0 ? undefined : (noted ?? this.#heldSeenAt),
      firstRunAt: this.#firstRunAt,
      decisions: this.#decisions.all(),
    };
  }

  #did(verdict: ActWord, reason: string, at: number): void {
    this.#decisions.add({ at, verdict, reason, threshold: this.readView().settings.nodeLeaseFailureFraction });
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
  #latest: { readonly at: number; readonly facts: readonly ShootFacts[] } | undefined;

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

  /** When the last round of probes ended, in milliseconds since the epoch; undefined before the first round has ended. */
  get lastRoundEndedAt(): number | undefined {
    return this.#lastRoundEndedAt;
  }

  /** Returns what is true of all shoots: as of an earlier call if that is younger than `maxAgeMs`, so that frequent calls cost no more than rare ones. */
  facts(maxAgeMs = 0): readonly ShootFacts[] {
    const reading = this.#reading();
    if (this.#latest === undefined || reading.monotonic - this.#latest.at >= maxAgeMs) {
      const facts = Array.from(this.#records.values(), (record) => record.facts(reading));
      this.#latest = { at: reading.monotonic, facts };
    }
    return this.#latest.facts;
  }

  /** Returns what is true of this shoot; undefined if it has no prober. */
  factsOf(cluster: string): ShootFacts | undefined {
    return this.#records.get(cluster)?.facts(this.#reading());
  }

  nameOf(cluster: string): ShootName | undefined {
    return this.#nameOf(cluster);
  }

  #reading(): ClockReading {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
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
