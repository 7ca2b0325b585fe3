import { type JudgeContext, judgeShoot } from '../../status/state/judge-shoot.ts';
import type {
  FailedWrite,
  HeldInShoot,
  PauseInForce,
  ResourceInShoot,
  ShootFacts,
  ShootStatus,
  ShootTold,
} from '../../status/state/schema.ts';
import type { NamedShoot } from '../../status/state/find-shoot.ts';
import { pauseInWords } from '../../status/state/words.ts';
import { type VerdictName, verdictNameOf } from '../judge/judgement.ts';
import type { ProbeResult } from '../observe/probe.ts';
import { scalingUnderWay } from '../scale/advance-shoot.ts';
import { leaderTimeMs } from '../scale/desired.ts';
import {
  type ClockReading,
  formatWall,
  timeAt,
  answerInWords,
  leaseEvidence,
  type RunFacts,
  factsAfter,
  progressOf,
  scalingProgress,
} from './shown.ts';
import type { ActWord, DecisionLog } from './decision-log.ts';
import type { EventOf, Lack, ShootProberView } from './events.ts';
import { writeIn } from './sentences.ts';

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
interface RecordContext extends NamedShoot, Pick<JudgeContext, 'dryRun' | 'leads'> {
  readonly pause: PauseInForce | undefined;
  /** Says why the shoot is not probed. */
  readonly whyNotProbed: () => ShootFacts['notProbed'];
}

const titleOf = ({ kind, name }: Pick<ResourceInShoot, 'kind' | 'name'>): string => `${kind} ${name}`;

/**
 * Returns the resources that stay up although an outage requires them to be down: longer than the leader may take, while nothing scales them down, or because
 * of `ignore-scaling`.
 */
const leftUp = (view: ShootProberView, { monotonic }: ClockReading): readonly ResourceInShoot[] => {
  const { state, up, ignored } = view;
  const { desired, unmet, scaling } = state;
  if (desired?.direction !== 'down') return [];
  const isInTime = scaling !== undefined && unmet !== undefined && monotonic < unmet.since + leaderTimeMs;
  const kept = ignored.filter(({ isDown }) => !isDown).map(({ kind, name }) => ({ kind, name }));
  return [...(isInTime ? [] : up), ...kept];
};

export const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

export const shownDecisions = (log: DecisionLog): NonNullable<ShootStatus['decisions']> =>
  log.all().map(({ at, lastAt, ...decision }) => ({
    at: formatWall(at),
    lastAt: formatWall(lastAt),
    ...decision,
  }));

/** What is kept of a shoot when its prober has ended. */
export interface ShootHistory {
  readonly decisions: DecisionLog;
  /** By kind and name. */
  readonly failedWrites: Map<string, FailedWrite>;
}

/** What is known of one shoot, and what that means; kept across changes of the configuration. */
export class ShootRecord {
  readonly history: ShootHistory;
  /** Returns the current state of the shoot's prober. */
  readView: () => ShootProberView;
  /** What the shoot lacks, as it was told. */
  lack: Lack | undefined;
  readonly #firstRunAt: number;
  /** What the runs show, counted once a run, and the latest verdict. */
  #seen: RunFacts = { candidates: 0, expired: 0, reason: '' };
  #verdict: VerdictName | undefined;
  #marginMs: number | undefined;
  #told: ShootTold | undefined;
  #pause: PauseInForce | undefined;
  /** Resources that were held at the last check, since when some are, and resources that this prober has restored since. */
  #held: readonly string[] = [];
  #heldSeenAt = 0;
  readonly #restored = new Set<string>();

  constructor(readView: () => ShootProberView, history: ShootHistory, { wall, monotonic }: ClockReading) {
    this.readView = readView;
    this.history = history;
    this.#firstRunAt = wall + readView().state.nextRunAt - monotonic;
  }

  runEnded(result: ProbeResult, reading: ClockReading): void {
    const { verdict, reason } = result.decision;
    const seen = factsAfter(this.#seen, { ...result, settings: this.readView().settings }, reading);
    if (seen.verdict !== this.#seen.verdict) this.history.failedWrites.clear();
    this.#seen = seen;
    this.#verdict = verdictNameOf(verdict);
    this.history.decisions.add({ at: reading.wall, verdict: this.#verdict, reason });
  }

  /** Notes a write, and a read that failed. Leaves out one that only stores the former count, because the write of the count itself follows. */
  responded(
    response: EventOf<'response-received'>,
    { dryRun }: Pick<RecordContext, 'dryRun'>,
    { wall }: ClockReading,
  ): void {
    const { ref, verdict, now, outcome } = response;
    if (ref === undefined) return;
    const title = titleOf(ref);
    if (!outcome.result.ok) {
      const { error } = outcome.result;
      // A conflict is read and tried again, and what waits for our own rate limit, or is not ours to write any more, was not sent.
      if (error.code === 'Conflict' || error.code === 'Rejected' || error.rateLimited) return;
      this.history.failedWrites.set(title, { kind: ref.kind, name: ref.name, error: answerInWords(error) });
      return;
    }
    // After a write whose response was lost, the read may show that it has taken effect.
    this.history.failedWrites.delete(title);
    const write = writeIn(response);
    if (write === undefined) return;
    const { effect, act, counts = 'its annotation is removed', direction, undone } = write;
    if (effect === undefined && direction === 'down') return;
    if (effect !== 'down') this.#restored.add(title);
    else if (undone === undefined && verdict?.kind === 'unhealthy') this.#marginMs = verdict.graceEndsAt - now;
    if (undone !== undefined) {
      const from = String(write.write.base.specReplicas);
      this.#did('undone', `${undone.manager} had set ${title} to ${from} replicas`, wall);
    }
    this.#did(act === 'annotated' ? 'given back' : act, `${dryRun ? 'dry run: ' : ''}${title}, ${counts}`, wall);
  }

  /** In milliseconds since the epoch; undefined before the first run has ended. */
  get lastRunEndedAt(): number | undefined {
    const { lastRunEndedAt } = this.#seen;
    return lastRunEndedAt === undefined ? undefined : Date.parse(lastRunEndedAt);
  }

  /** True if the prober probes the shoot. Another kind of prober only releases resources that an earlier process held. */
  get isProbed(): boolean {
    return Number.isFinite(this.readView().state.nextRunAt);
  }

  /** Judges what is known now, and notes what has changed. */
  row(context: RecordContext, reading: ClockReading): ShootStatus {
    const { wall } = reading;
    const view = this.readView();
    this.#notePause(context.pause, wall);
    this.#noteHeld(view, wall);
    const facts = this.#factsOf(view, context, reading);
    const { dryRun, leads } = context;
    const { probeIntervalMs } = view.settings;
    const { isClusterStale } = view;
    const told = judgeShoot(facts, { now: wall, probeIntervalMs, dryRun, leads, isClusterStale });
    const before = this.#told;
    const isAsBefore = told.state === before?.state && told.causes.join() === before.causes.join();
    const since = told.since ?? (isAsBefore ? before.since : formatWall(wall));
    this.#told = { ...told, since };
    return { ...facts, ...this.#told };
  }

  /** Returns what the metrics show: the row, and what it has not. */
  measured(context: RecordContext, reading: ClockReading): MeasuredShoot {
    const row = this.row(context, reading);
    return {
      row,
      verdict: this.#verdict,
      heldSince: row.held.length === 0 ? undefined : (earliest(row.held) ?? this.#heldSeenAt),
      lastRunAt: this.lastRunEndedAt ?? this.#firstRunAt,
    };
  }

  #factsOf(view: ShootProberView, context: RecordContext, reading: ClockReading): ShootFacts {
    const { namespace, project, name, pause, whyNotProbed } = context;
    const { state, settings, held, ignored, missing, notServed } = view;
    const { since, toRestore } = state.probe.outage ?? {};
    const isRestored = toRestore !== undefined && held.length === 0;
    const isDue = Number.isFinite(state.nextRunAt) && state.runStartedAt === undefined;
    return {
      ...{ namespace, project, name },
      ...this.#seen,
      notProbed: this.isProbed ? undefined : whyNotProbed(),
      outageSince: since === undefined || isRestored ? undefined : timeAt(since, reading),
      access: this.#seen.failing === undefined ? undefined : view.access(),
      leaseExpiryMs: settings.expiryAgeMs,
      graceMs: settings.graceMs,
      nextRunAt: isDue ? timeAt(state.nextRunAt, reading) : undefined,
      flapping: state.probe.outage?.isFlapping === true,
      paused: pause ?? null,
      marginMs: this.#marginMs === undefined ? undefined : Math.round(this.#marginMs),
      held: [...held],
      up: unlessEmpty(leftUp(view, reading)),
      stillRunning: state.desired?.direction === 'down' ? unlessEmpty(view.stillRunning) : undefined,
      unread: unlessEmpty(view.unread),
      failedWrites: unlessEmpty([...this.history.failedWrites.values()]),
      ignored: unlessEmpty(ignored),
      missing: unlessEmpty(missing),
      notServed: unlessEmpty(notServed),
      publicAddress: view.reachability,
      progress: progressOf(scalingUnderWay(state), reading),
    };
  }

  /** Returns the row, and the evidence for the latest verdict. */
  details(context: RecordContext, reading: ClockReading): ShootStatus {
    const { state, settings } = this.readView();
    const scaling = scalingUnderWay(state);
    return {
      ...this.row(context, reading),
      threshold: settings.nodeLeaseFailureFraction,
      leases: leaseEvidence(state.probe, reading),
      scaling: scaling === undefined ? null : scalingProgress(scaling, reading),
      decisions: shownDecisions(this.history.decisions),
    };
  }

  #did(verdict: ActWord, reason: string, at: number): void {
    this.history.decisions.add({ at, verdict, reason });
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
  #noteHeld({ state, held, unread }: ShootProberView, wall: number): void {
    const before = this.#held;
    const notKnown = new Set(unread.map(titleOf));
    this.#held = [...held.map(titleOf), ...before.filter((title) => notKnown.has(title))];
    if (before.length === 0) this.#heldSeenAt = wall;
    const scaling = scalingUnderWay(state);
    const isRestoring = scaling !== undefined && scaling.direction !== 'down';
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
