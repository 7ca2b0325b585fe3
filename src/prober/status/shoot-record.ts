import type { Decision } from '../judge/decision.ts';
import { type LeaseCounts, verdictNameOf } from '../judge/verdict.ts';
import { type ActWord, DecisionLog } from './decision-log.ts';
import { countLeases, leaseEvidence } from './lease-evidence.ts';
import { type ClockReading, formatWall, timeAt } from './clock-reading.ts';
import { nextStep, pauseInWords } from './next-step.ts';
import { protectionState } from './protection-state.ts';
import { scalingProgress } from './scaling-progress.ts';
import type { HeldInShoot, PauseInForce, ProbedShoot, ProtectionState, ResourceInShoot } from './schema.ts';
import { leaderTimeMs } from '../plan/permission.ts';
import type { ShootProberView } from './shoot-prober-view.ts';

/** Name of a shoot and its project, if its Cluster has them. */
export interface ShootName {
  readonly project?: string;
  readonly name: string;
}

/** Facts about a shoot that do not come from its prober. */
export interface RecordContext {
  readonly namespace: string;
  readonly name: ShootName | undefined;
  readonly pause: PauseInForce | undefined;
  readonly dryRun: boolean;
}

/** A write that the API server has accepted. */
export interface Scaled {
  readonly resource: ResourceInShoot;
  readonly from: number;
  /** Replicas that were written. Absent if only the mark was removed. */
  readonly to?: number | undefined;
}

/** Returns the action of a write, and a description. */
const actOf = ({ from, to }: Scaled): readonly [word: ActWord, how: string] => {
  if (to === undefined) return ['given back', 'its mark is removed'];
  return [to === 0 ? 'scaled down' : 'scaled up', `from ${String(from)} to ${String(to)} replicas`];
};

const titleOf = ({ kind, name }: ResourceInShoot): string => `${kind} ${name}`;

/** True if a resource stays up that should be down: longer than the leader may take, or because of a pause. */
const staysUnmet = ({ state: { unmetSince }, isUnmet }: ShootProberView, { monotonic }: ClockReading): boolean =>
  isUnmet && (unmetSince === undefined || monotonic >= unmetSince + leaderTimeMs);

const nothingLeftOut: ReadonlyMap<string, string> = new Map();

/** Status of one shoot, kept across changes of the configuration. */
export class ShootRecord {
  readonly #decisions = new DecisionLog();
  /** Returns the current state of the shoot's prober. */
  #readView: () => ShootProberView;
  #lastRunEndedAt: number | undefined;
  #counts: LeaseCounts | undefined;
  #leftOut = nothingLeftOut;
  #nodes: number | undefined;
  #marginMs: number | undefined;
  #state: ProtectionState | undefined;
  #pause: PauseInForce | undefined;
  /** Resources that were held at the last check, and resources that this prober has restored since. */
  #held: readonly string[] = [];
  readonly #restored = new Set<string>();
  #since = 0;

  constructor(readView: () => ShootProberView) {
    this.#readView = readView;
  }

  /** Called when another prober of the same shoot has taken over. */
  readThrough(readView: () => ShootProberView): void {
    this.#readView = readView;
  }

  runEnded({ verdict, reason, counts, leftOut = nothingLeftOut, nodes }: Decision, { wall }: ClockReading): void {
    const threshold = this.#readView().settings.nodeLeaseFailureFraction;
    this.#lastRunEndedAt = wall;
    this.#counts = counts;
    if (verdict.kind !== 'failed') {
      this.#leftOut = leftOut;
      this.#nodes = nodes;
    }
    this.#decisions.add({ at: wall, verdict: verdictNameOf(verdict), reason, counts, threshold });
  }

  /** Records the rest of KCM's grace period at the last write of a scale-down, in milliseconds. */
  scaledDown(marginMs: number): void {
    this.#marginMs = marginMs;
  }

  /** Called after a write of this prober, and in a dry run in place of it. */
  wrote(scaled: Scaled, { dryRun }: Pick<RecordContext, 'dryRun'>, { wall }: ClockReading): void {
    const title = titleOf(scaled.resource);
    const [word, how] = actOf(scaled);
    if (word !== 'scaled down') this.#restored.add(title);
    this.#did(word, `${dryRun ? 'dry run: ' : ''}${title}, ${how}`, wall);
  }

  get lastRunEndedAt(): number | undefined {
    return this.#lastRunEndedAt;
  }

  /** True if the prober probes the shoot. Another kind of prober only releases resources that an earlier process held. */
  get isProbed(): boolean {
    return Number.isFinite(this.#readView().state.nextRunAt);
  }

  /** Updates the state of the shoot and the time since when it lasts. Returns the state. */
  note({ pause, dryRun }: Pick<RecordContext, 'pause' | 'dryRun'>, { wall }: ClockReading): ProtectionState {
    const { state, held } = this.#readView();
    this.#notePause(pause, wall);
    this.#noteReleased(wall);
    const now = protectionState({
      verdict: state.verdict,
      counts: this.#counts,
      scaling: state.scaling,
      isAnyHeld: held.length > 0,
      isPaused: pause !== undefined,
      isFlapping: state.probe.outage?.isFlapping === true,
      isDryRun: dryRun,
    });
    if (now !== this.#state) this.#since = wall;
    this.#state = now;
    return now;
  }

  row(context: RecordContext, reading: ClockReading): ProbedShoot {
    const { namespace, name, pause, dryRun } = context;
    const sight = this.#readView();
    const { state, settings, held, ignored } = sight;
    const protection = this.note(context, reading);
    const isUnmet = !dryRun && staysUnmet(sight, reading);
    const next = nextStep({ state, protection, pause, isUnmet });
    const counts = this.#counts ?? countLeases({ memory: state.probe, leftOut: this.#leftOut });
    return {
      namespace,
      ...(name?.project === undefined ? {} : { project: name.project }),
      name: name?.name ?? namespace,
      state: protection,
      since: sinceOf(protection, held, this.#since),
      reason: this.#decisions.reason ?? 'not probed yet',
      next: { text: next.text, ...(next.at === undefined ? {} : { at: timeAt(next.at, reading) }) },
      ...counts,
      ...(this.#nodes === undefined ? {} : { nodes: this.#nodes, leftOut: this.#leftOut.size }),
      leaseExpiryMs: settings.expiryAgeMs,
      graceMs: settings.graceMs,
      ...(this.#lastRunEndedAt === undefined ? {} : { lastRunEndedAt: formatWall(this.#lastRunEndedAt) }),
      flapping: state.probe.outage?.isFlapping === true,
      paused: pause ?? null,
      ...(this.#marginMs === undefined ? {} : { marginMs: Math.round(this.#marginMs) }),
      held: [...held],
      ...(isUnmet ? { unmet: true } : {}),
      ...(ignored.length === 0 ? {} : { ignored }),
    };
  }

  /** Returns the row, and the evidence for the latest verdict. */
  details(context: RecordContext, reading: ClockReading): ProbedShoot {
    const { state, settings } = this.#readView();
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
    this.#decisions.note({ at, verdict, reason, threshold: this.#readView().settings.nodeLeaseFailureFraction });
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

  /** Records resources that are no longer held although this prober has not restored them. */
  #noteReleased(wall: number): void {
    const { state, held } = this.#readView();
    const before = this.#held;
    this.#held = held.map(titleOf);
    const isRestoring = state.scaling !== undefined && state.scaling.direction !== 'down';
    for (const title of before) {
      if (this.#held.includes(title)) continue;
      const isOurs = this.#restored.delete(title) || isRestoring;
      if (!isOurs) this.#did('released', `${title} is no longer held, but this prober did not release it`, wall);
    }
  }
}

/** Returns the start of the state. A process that started after the protection reads it from the held resources. */
const sinceOf = (state: ProtectionState, held: readonly HeldInShoot[], noted: number): string => {
  const times = held.flatMap(({ since }) => (since === undefined ? [] : [Date.parse(since)]));
  return formatWall(state === 'protected' ? Math.min(noted, ...times) : noted);
};
