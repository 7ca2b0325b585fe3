import { ApiError } from '../../kubernetes/api/errors.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { ResourceState } from '../../kubernetes/api/scalable.ts';
import type { DependentSource, ServedKind } from '../../kubernetes/cache/watch-kind.ts';
import type { ReleasePolicy } from '../clusters/lifecycle.ts';
import { takeSnapshot } from '../scale/snapshots.ts';
import { emptyProbeMemory as memory, type Verdict } from '../judge/judgement.ts';
import type { Scaling, ScalingEnd } from '../scale/scaling.ts';
import type { Direction } from '../scale/patch-plan.ts';
import type { Action, ActionResponse, Snapshot } from '../scale/operation.ts';
import {
  advanceShoot,
  type Effect,
  type ShootEvent,
  type ShootProberState,
  initialState,
} from '../scale/advance-shoot.ts';
import { type Role, leader } from '../scale/desired.ts';
import type { DependentResource } from '../config/settings.ts';
import { type RequestFate, type LogEntry, failedVerdict } from './cases.ts';
import { type ModelObject, type SeedModel, createSeedModel, scalableOf } from './seed-model.ts';

export interface HarnessOptions {
  readonly resources: readonly DependentResource[];
  readonly objects: readonly ModelObject[];
  /** Verdict of a run that begins at `now`; undefined: the run fails. Default: one failed run, and no more. */
  readonly verdictAt?: (now: number) => Verdict | undefined;
  /** Fate of the n-th request, counted from 0. */
  readonly fateOf?: (index: number, entry: LogEntry) => RequestFate;
  readonly probeIntervalMs?: number;
  /** True while a watch of the seed is interrupted. Default: false. */
  readonly isWatchInterrupted?: (now: number) => boolean;
  /** End of the pause, as known at `now`. */
  readonly pausedUntil?: (now: number) => number | undefined;
  /** Role at `now`. Default: leader. */
  readonly role?: (now: number) => Role;
  readonly runMs?: number;
  readonly watchLagMs?: number;
  /** Time that pods need to follow a changed count. */
  readonly followMs?: number;
  readonly served?: (key: string) => ServedKind;
  readonly synced?: boolean;
  /** Called after each event, to check invariants. */
  readonly check?: (harness: SeedHarness) => void;
}

/** An event at a given time. Events at the same time happen in the order in which they were added. */
interface Due {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void;
}

/** A shoot's loop on virtual time against a model of its namespace. Requests, watches and pods take the configured times. */
export class SeedHarness {
  readonly model: SeedModel;
  readonly log: LogEntry[] = [];
  /** Times at which scalings started. */
  readonly starts: number[] = [];
  readonly ends: { readonly at: number; readonly direction: Direction; readonly end: ScalingEnd }[] = [];
  readonly inFlight = new Set<string>();
  readonly #options: HarnessOptions;
  readonly #probeIntervalMs: number;
  readonly #agenda: Due[] = [];
  readonly #lastResponses = new Map<string, ResourceState>();
  readonly #seen: Map<string, ModelObject>;
  readonly #sources: ReadonlyMap<string, DependentSource>;
  /** Reads in flight, with the functions that end them. They end with their scaling. */
  readonly #unanswered = new Map<string, () => void>();
  #now = 0;
  #order = 0;
  #wakeAt = 0;
  #state: ShootProberState = initialState({ probe: memory, nextRunAt: 0 });

  constructor(options: HarnessOptions) {
    const { objects, resources, probeIntervalMs = 10_000 } = options;
    this.#options = options;
    this.#probeIntervalMs = probeIntervalMs;
    this.#seen = new Map(objects.map((object) => [refKey(object.ref), object]));
    this.#sources = new Map(resources.map(({ ref }) => [refKey(ref), this.#sourceOf(refKey(ref))]));
    this.model = createSeedModel(objects, (key, object) => this.#changed(key, object));
    for (const object of objects) this.#follow(refKey(object.ref), object);
  }

  now(): number {
    return this.#now;
  }

  state(): ShootProberState {
    return this.#state;
  }

  /** Schedules an event. */
  at(time: number, happen: () => void): void {
    this.#order += 1;
    this.#agenda.push({ at: time, order: this.#order, happen });
  }

  stop(releasePolicy: ReleasePolicy): void {
    this.#advance([{ kind: 'stop', end: { releasePolicy, reason: 'test' } }]);
  }

  /** Runs until `time`, or until no event is left. */
  runUntil(time: number): void {
    const agenda = this.#agenda;
    for (let steps = 0; ; steps += 1) {
      if (steps === 100_000) throw new Error('goes on for ever');
      agenda.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = Math.min(agenda[0]?.at ?? Number.POSITIVE_INFINITY, this.#wakeAt);
      if (next > time || next === Number.POSITIVE_INFINITY) break;
      this.#now = Math.max(this.#now, next);
      if (agenda[0] !== undefined && agenda[0].at <= this.#wakeAt) agenda.shift()?.happen();
      else this.#advance([]);
      this.#options.check?.(this);
    }
    if (Number.isFinite(time)) this.#now = Math.max(this.#now, time);
  }

  #advance(events: readonly ShootEvent[]): void {
    const { resources, isWatchInterrupted, role, pausedUntil } = this.#options;
    const now = this.#now;
    const { state, effects, wakeAt } = advanceShoot(this.#state, events, {
      now,
      wallNow: now,
      holder: { by: 'test' },
      snapshotOf: (key) => this.#snapshotOf(key),
      resources,
      probeIntervalMs: this.#probeIntervalMs,
      mustRead: isWatchInterrupted?.(now) ?? false,
      role: role?.(now) ?? leader,
      pausedUntil: pausedUntil?.(now),
      inFlight: this.inFlight,
    });
    this.#state = state;
    this.#wakeAt = wakeAt;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'start-run':
        this.#startRun();
        break;
      case 'send':
        this.#send(effect.action, effect.scaling);
        break;
      case 'scaling-ended':
        this.ends.push({ at: this.#now, direction: effect.scaling.direction, end: effect.end });
        for (const end of [...this.#unanswered.values()]) end();
        break;
      case 'scaling-started':
        this.starts.push(this.#now);
        break;
      case 'abort-run':
      case 'protection-late':
        break;
    }
  }

  #startRun(): void {
    const { verdictAt, runMs = 100 } = this.#options;
    const verdict = verdictAt?.(this.#now) ?? failedVerdict;
    this.at(this.#now + runMs, () => {
      const nextRunAt = verdictAt === undefined ? Number.POSITIVE_INFINITY : this.#now + this.#probeIntervalMs;
      const decision = { verdict, reason: verdict.kind, nextRunAt, memory };
      this.#advance([{ kind: 'run-ended', decision }]);
    });
  }

  #send(action: Action, { direction, scope }: Scaling): void {
    const { key } = action;
    const entry = { at: this.#now, direction, scope, action };
    const fate = this.#options.fateOf?.(this.log.length, entry) ?? { latencyMs: 20 };
    this.log.push(entry);
    if (this.inFlight.has(key)) throw new Error(`${key} has two requests in flight`);
    this.inFlight.add(key);
    const respond = (response: ActionResponse['result']): void => {
      this.#unanswered.delete(key);
      this.inFlight.delete(key);
      this.#advance([{ kind: 'responded', response: { key, result: response } }]);
    };
    let isAborted = false;
    if (action.kind === 'read') {
      this.#unanswered.set(key, () => {
        isAborted = true;
        const error = new ApiError({ code: 'Rejected', message: 'aborted' });
        this.at(this.#now, () => respond({ ok: false, error }));
      });
    }
    let result: ActionResponse['result'];
    this.at(this.#now + fate.latencyMs / 2, () => {
      if (fate.interference !== undefined) this.model.edit(key, fate.interference);
      result = this.#resultOf(action, fate);
    });
    this.at(this.#now + fate.latencyMs, () => {
      if (isAborted) return;
      if (result.ok && result.value !== undefined) this.#lastResponses.set(key, result.value);
      respond(result);
    });
  }

  #resultOf(action: Action, { error: code, landed = false, ...rest }: RequestFate): ActionResponse['result'] {
    const isDone = code === undefined || landed;
    const answer: ActionResponse['result'] =
      action.kind === 'read' || !isDone
        ? { ok: true, value: this.model.read(action.key) }
        : this.model.write(action.key, action.write);
    if (code === undefined) return answer;
    return { ok: false, error: new ApiError({ code, message: `${action.kind} of ${action.key}: ${code}`, ...rest }) };
  }

  #changed(key: string, object: ModelObject | undefined): void {
    const { watchLagMs = 50 } = this.#options;
    if (Number.isFinite(watchLagMs)) {
      this.at(this.#now + watchLagMs, () => {
        if (object === undefined) this.#seen.delete(key);
        else this.#seen.set(key, object);
        this.#advance([]);
      });
    }
    if (object !== undefined) this.#follow(key, object);
  }

  /** Lets the object's controller observe the change, and its pods follow. */
  #follow(key: string, { generation, observedGeneration, replicas, ready }: ModelObject): void {
    const { followMs = 1_000 } = this.#options;
    if (!Number.isFinite(followMs) || (observedGeneration === generation && ready === replicas)) return;
    this.at(this.#now + followMs, () => {
      const latest = this.model.get(key);
      if (latest?.generation !== generation) return;
      this.model.edit(key, { observedGeneration: generation, ready: latest.replicas });
    });
  }

  #snapshotOf(key: string): Snapshot {
    const resource = this.#options.resources.find(({ ref }) => refKey(ref) === key);
    if (resource === undefined) throw new Error(`${key} is no dependent resource`);
    return takeSnapshot(resource, {
      cluster: 'shoot',
      sources: this.#sources,
      lastResponses: this.#lastResponses,
      overlays: new Map(),
    });
  }

  #sourceOf(key: string): DependentSource {
    const { served, synced = true } = this.#options;
    return {
      served: () => served?.(key) ?? { kind: 'served', resource: 'things' },
      store: {
        synced,
        get: () => {
          const object = this.#seen.get(key);
          return object && scalableOf(object);
        },
        entries: () => [],
        subscribe: () => () => undefined,
        whenSynced: () => Promise.resolve(),
      },
    };
  }
}
