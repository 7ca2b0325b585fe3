import { judgeShoot } from '../../status/state/judge-shoot.ts';
import type {
  FailedWrite,
  FailingRuns,
  HeldInShoot,
  PauseInForce,
  ResourceInShoot,
  ShootFacts,
  ShootStatus,
  ShootTold,
} from '../../status/state/schema.ts';
import type { NamedShoot } from '../../status/state/find-shoot.ts';
import { pauseInWords } from '../../status/state/words.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Decision, type VerdictName, verdictNameOf } from '../judge/judgement.ts';
import { leaderTimeMs } from '../scale/permission.ts';
import {
  type ClockReading,
  formatWall,
  timeAt,
  type LastLook,
  answerInWords,
  failingAfter,
  lookAfter,
  notLookedYet,
  leaseEvidence,
  progressOf,
  scalingProgress,
} from './shown.ts';
import { type ActWord, DecisionLog } from './decision-log.ts';
import { type Emit, type EventOf, type ShootProberView, observer } from './events.ts';
import { writeIn } from './sentences.ts';
import { type KnownClusters, listUnprobed, namesOf, seedNameIn, whyNotProbed } from './unprobed.ts';

/** What the metrics show of a shoot with a prober. */
export interface MeasuredShoot {
  readonly row: ShootStatus;
  /** Name of the latest verdict; absent before the first. */
  readonly verdict?: VerdictName;
  /** Since when resources are held: by their annotation `held`, else since this process has seen it. Absent if none is. Milliseconds since the epoch. */
  readonly heldSince?: number;
  /** When the latest run ended, before that when the first one is due. Infinity for a prober that only releases. */
  readonly lastRunAt: number;
}

/** Facts about a shoot that do not come from its prober. */
interface RecordContext extends NamedShoot {
  readonly pause: PauseInForce | undefined;
  /** Why the shoot is not probed; absent if it is. */
  readonly notProbed?: ShootFacts['notProbed'];
  readonly dryRun: boolean;
}

const titleOf = ({ kind, name }: Pick<ResourceInShoot, 'kind' | 'name'>): string => `${kind} ${name}`;

/** Returns the resources that stay up although an outage requires them to be down: longer than the leader may take, or because of a pause or `ignore-scaling`. */
const leftUp = (view: ShootProberView, { monotonic }: ClockReading): readonly ResourceInShoot[] => {
  const { state, held, up, ignored } = view;
  const { desired, unmetSince } = state;
  if (desired?.direction !== 'down') return [];
  if (up.length > 0) return unmetSince === undefined || monotonic >= unmetSince + leaderTimeMs ? up : [];
  const kept = ignored.filter(({ isDown }) => !isDown);
  return held.length === 0 ? kept.map(({ kind, name }) => ({ kind, name })) : [];
};

const nothingLeftOut: ReadonlyMap<string, string> = new Map();

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

/** What is known of one shoot, and what that means; kept across changes of the configuration. */
class ShootRecord {
  readonly #decisions = new DecisionLog();
  /** Returns the current state of the shoot's prober. */
  readView: () => ShootProberView;
  readonly #firstRunAt: number;
  #lastRunEndedAt: number | undefined;
  #look: LastLook = notLookedYet;
  #leftOut = nothingLeftOut;
  #latestVerdict: VerdictName | undefined;
  /** The latest verdict that is not a failure. */
  #verdict: ShootFacts['verdict'];
  /** That verdict in words. */
  #reason = '';
  #landing: ShootFacts['landing'];
  #outageSince: string | undefined;
  #failing: FailingRuns | undefined;
  readonly #failedWrites = new Map<string, FailedWrite>();
  #marginMs: number | undefined;
  #told: ShootTold | undefined;
  #pause: PauseInForce | undefined;
  /** Resources that were held at the last check, since when some are, and resources that this prober has restored since. */
  #held: readonly string[] = [];
  #heldSeenAt = 0;
  readonly #restored = new Set<string>();
  #since = 0;

  constructor(readView: () => ShootProberView, { wall, monotonic }: ClockReading) {
    this.readView = readView;
    this.#firstRunAt = wall + readView().state.nextRunAt - monotonic;
  }

  runEnded(decision: Decision, durationMs: number, reading: ClockReading): void {
    const { settings } = this.readView();
    const { verdict, reason, counts, leftOut, memory } = decision;
    this.#lastRunEndedAt = reading.wall;
    this.#latestVerdict = verdictNameOf(verdict);
    this.#look = lookAfter({ decision, settings, before: this.#look }, reading);
    this.#failing = failingAfter(this.#failing, { verdict, durationMs }, reading);
    this.#leftOut = leftOut ?? (memory.candidates === undefined ? nothingLeftOut : this.#leftOut);
    if (verdict.kind !== 'failed') {
      this.#verdict = verdict.kind;
      this.#reason = reason;
      this.#outageSince = verdict.kind === 'unhealthy' ? timeAt(verdict.crossedAt, reading) : undefined;
      if (verdict.kind !== 'unhealthy') this.#failedWrites.clear();
      this.#landing = undefined;
    }
    if (verdict.kind === 'landing') {
      const { renewed, awaited, late, earliest, latest } = verdict;
      this.#landing = {
        ...{ renewed, awaited, late },
        earliest: earliest === undefined ? undefined : timeAt(earliest, reading),
        latest: timeAt(latest, reading),
      };
    }
    const threshold = settings.nodeLeaseFailureFraction;
    this.#decisions.add({ at: reading.wall, verdict: verdictNameOf(verdict), reason, counts, threshold });
  }

  /** Notes a write. Leaves out one that only stores the former count, because the write of the count itself follows. */
  responded(
    response: EventOf<'response-received'>,
    { dryRun }: Pick<RecordContext, 'dryRun'>,
    { wall }: ClockReading,
  ): void {
    const { ref, verdict, now } = response;
    const write = writeIn(response);
    if (write === undefined || ref === undefined) return;
    const { effect, act, counts = 'its annotation is removed', direction, undone, from, error } = write;
    const title = titleOf(ref);
    // A conflict is read and tried again, and a write that waits for our own rate limit was not sent.
    if (error?.code === 'Conflict' || error?.rateLimited === true) return;
    if (error !== undefined) {
      this.#failedWrites.set(title, { kind: ref.kind, name: ref.name, error: answerInWords(error) });
      return;
    }
    if (effect === undefined && direction === 'down') return;
    this.#failedWrites.delete(title);
    if (effect !== 'down') this.#restored.add(title);
    else if (verdict?.kind === 'unhealthy') this.#marginMs = verdict.graceEndsAt - now;
    if (undone !== undefined) {
      this.#did('undone', `${undone.manager} had set ${title} to ${String(from)} replicas`, wall);
    }
    this.#did(act === 'annotated' ? 'given back' : act, `${dryRun ? 'dry run: ' : ''}${title}, ${counts}`, wall);
  }

  get lastRunEndedAt(): number | undefined {
    return this.#lastRunEndedAt;
  }

  /** True if the prober probes the shoot. Another kind of prober only releases resources that an earlier process held. */
  get isProbed(): boolean {
    return Number.isFinite(this.readView().state.nextRunAt);
  }

  /** Judges what is known now. Returns what it means, and what it meant before. */
  note(
    context: RecordContext,
    reading: ClockReading,
  ): { readonly told: ShootTold; readonly before?: ShootTold | undefined } {
    this.#notePause(context.pause, reading.wall);
    const view = this.readView();
    this.#noteHeld(view, reading.wall);
    const told = this.#judge(this.#factsOf(view, context, reading), view, context, reading);
    const before = this.#told;
    this.#told = told;
    return { told, before };
  }

  row(context: RecordContext, reading: ClockReading): ShootStatus {
    const view = this.readView();
    const facts = this.#factsOf(view, context, reading);
    return { ...facts, ...this.#judge(facts, view, context, reading) };
  }

  /** Returns what the metrics show: the row, and what it has not. */
  measured(context: RecordContext, reading: ClockReading): MeasuredShoot {
    this.#noteHeld(this.readView(), reading.wall);
    const row = this.row(context, reading);
    return {
      row,
      verdict: this.#latestVerdict,
      heldSince: row.held.length === 0 ? undefined : (earliest(row.held) ?? this.#heldSeenAt),
      lastRunAt: this.#lastRunEndedAt ?? this.#firstRunAt,
    };
  }

  #judge(
    facts: ShootFacts,
    { settings }: ShootProberView,
    { dryRun }: RecordContext,
    { wall }: ClockReading,
  ): ShootTold {
    const told = judgeShoot(facts, { now: wall, probeIntervalMs: settings.probeIntervalMs, dryRun });
    if (told.state !== this.#told?.state || told.cause !== this.#told.cause) this.#since = wall;
    return { ...told, since: told.since ?? formatWall(this.#since) };
  }

  #factsOf(view: ShootProberView, context: RecordContext, reading: ClockReading): ShootFacts {
    const { namespace, project, name, pause, notProbed } = context;
    const { state, settings, held, ignored, missing, notServed } = view;
    const { listedAt: _, ...look } = this.#look;
    const isDue = Number.isFinite(state.nextRunAt) && state.runStartedAt === undefined;
    return {
      ...{ namespace, project, name },
      notProbed: this.isProbed ? undefined : (notProbed ?? { reason: 'it is no longer probed', givesBack: true }),
      ...look,
      verdict: this.#verdict,
      reason: this.#reason,
      outageSince: this.#outageSince,
      failing: this.#failing,
      access: this.#failing === undefined ? undefined : view.access(),
      leaseExpiryMs: settings.expiryAgeMs,
      graceMs: settings.graceMs,
      lastRunEndedAt: this.#lastRunEndedAt === undefined ? undefined : formatWall(this.#lastRunEndedAt),
      nextRunAt: isDue ? timeAt(state.nextRunAt, reading) : undefined,
      flapping: state.probe.outage?.isFlapping === true,
      paused: pause ?? null,
      marginMs: this.#marginMs === undefined ? undefined : Math.round(this.#marginMs),
      held: [...held],
      up: unlessEmpty(leftUp(view, reading)),
      failedWrites: unlessEmpty([...this.#failedWrites.values()]),
      ignored: unlessEmpty(ignored),
      missing: unlessEmpty(missing),
      notServed: unlessEmpty(notServed),
      landing: this.#landing,
      progress: progressOf(state.scaling, reading),
    };
  }

  /** Returns the row, and the evidence for the latest verdict. */
  details(context: RecordContext, reading: ClockReading): ShootStatus {
    const { state, settings } = this.readView();
    return {
      ...this.row(context, reading),
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

/** Returns the earliest time in the annotations of held resources, in milliseconds since the epoch. */
const earliest = (held: readonly HeldInShoot[]): number | undefined => {
  const times = held.flatMap(({ since }) => (since === undefined ? [] : [Date.parse(since)]));
  return times.length === 0 ? undefined : Math.min(...times);
};

export interface ShootStatesOptions {
  readonly clock: Clock;
  readonly dryRun: boolean;
  /** Returns the pause in force, of this shoot or of all. */
  readonly pauseOf: (cluster: string) => PauseInForce | undefined;
  /** Tells when a shoot's facts mean something else than before. */
  readonly emit?: Emit;
}

/** Status of all probers of a process, kept across changes of the configuration. */
export class ShootStates {
  readonly #options: ShootStatesOptions;
  #clusters: KnownClusters = { clusters: new Map(), dependents: [] };
  readonly #records = new Map<string, ShootRecord>();
  /** Shoots that are still to be probed in the current round. */
  #awaited = new Set<string>();
  #lastRoundEndedAt: number | undefined;
  #latest:
    | { readonly at: number; readonly probed: readonly MeasuredShoot[]; readonly unprobed: readonly ShootStatus[] }
    | undefined;

  constructor(options: ShootStatesOptions) {
    this.#options = options;
  }

  /** Sets what the watches of the present configuration show. */
  clustersBy(clusters: KnownClusters): void {
    this.#clusters = clusters;
  }

  /** Returns the name of the seed; undefined if its Clusters do not say it. */
  seed(): string | undefined {
    return seedNameIn(this.#clusters);
  }

  readonly observe: Emit = observer({
    stepped: ({ cluster, readView }) => this.#stepped(cluster, readView),
    'run-ended': ({ cluster, result: { decision, durationMs } }) => {
      this.#records.get(cluster)?.runEnded(decision, durationMs, this.#reading());
      this.#awaited.delete(cluster);
      this.#endRound();
    },
    'response-received': (event) => this.#records.get(event.cluster)?.responded(event, this.#options, this.#reading()),
    forgotten: ({ cluster }) => {
      this.#records.delete(cluster);
      if (this.#awaited.delete(cluster)) this.#endRound();
    },
  });

  /** Returns the end of the last round, in RFC 3339; undefined before the first round has ended. */
  lastRoundEndedAt(): string | undefined {
    return this.#lastRoundEndedAt === undefined ? undefined : formatWall(this.#lastRoundEndedAt);
  }

  /** Returns the rows of all shoots; `maxAgeMs` as in `all`. */
  rows(maxAgeMs = 0): readonly ShootStatus[] {
    const { probed, unprobed } = this.all(maxAgeMs);
    return [...probed.map(({ row }) => row), ...unprobed];
  }

  /** Returns what is true of all shoots: as of an earlier call if that is younger than `maxAgeMs`, so that frequent calls cost no more than rare ones. */
  all(maxAgeMs = 0): { readonly probed: readonly MeasuredShoot[]; readonly unprobed: readonly ShootStatus[] } {
    const reading = this.#reading();
    if (this.#latest === undefined || reading.monotonic - this.#latest.at >= maxAgeMs) {
      const probed = Array.from(this.#records, ([cluster, record]) =>
        record.measured(this.#contextOf(cluster), reading),
      );
      this.#latest = { at: reading.monotonic, probed, unprobed: this.#unprobed() };
    }
    return this.#latest;
  }

  /** Returns the shoot of this name. Empty if there is none. */
  details(name: string): readonly ShootStatus[] {
    const record = this.#records.get(name);
    if (record !== undefined) return [record.details(this.#contextOf(name), this.#reading())];
    return this.#unprobed().filter(({ namespace }) => namespace === name);
  }

  /** Returns the shoots without a prober. */
  #unprobed(): readonly ShootStatus[] {
    const { pauseOf, dryRun } = this.#options;
    const context = { now: this.#options.clock.now(), probeIntervalMs: 0, dryRun };
    return listUnprobed(this.#clusters, (name) => this.#records.has(name)).map(
      ({ namespace, project, name, notProbed, held }) => {
        const facts: ShootFacts = {
          ...{ namespace, project, name, notProbed, held: [...held] },
          ...{ reason: '', candidates: 0, expired: 0, leaseExpiryMs: 0, graceMs: 0, flapping: false },
          paused: pauseOf(namespace) ?? null,
        };
        return { ...facts, ...judgeShoot(facts, context) };
      },
    );
  }

  #reading(): ClockReading {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  #contextOf(cluster: string) {
    const { pauseOf, dryRun } = this.#options;
    const isReleased = this.#records.get(cluster)?.isProbed === false;
    const notProbed = isReleased ? whyNotProbed(cluster, this.#clusters) : undefined;
    return { ...namesOf(cluster, this.#clusters), pause: pauseOf(cluster), notProbed, dryRun };
  }

  #stepped(cluster: string, readView: () => ShootProberView): void {
    const reading = this.#reading();
    const record = this.#records.get(cluster) ?? new ShootRecord(readView, reading);
    this.#records.set(cluster, record);
    // Another prober of the same shoot may have taken over.
    record.readView = readView;
    const { told, before } = record.note(this.#contextOf(cluster), reading);
    this.#options.emit?.({ kind: 'told', cluster, told, before });
  }

  #endRound(): void {
    if (this.#awaited.size > 0) return;
    const records = [...this.#records].filter(([, { isProbed }]) => isProbed);
    if (records.length === 0 || records.some(([, { lastRunEndedAt }]) => lastRunEndedAt === undefined)) return;
    this.#lastRoundEndedAt = this.#options.clock.now();
    this.#awaited = new Set(records.map(([cluster]) => cluster));
  }
}
