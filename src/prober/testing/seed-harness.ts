import { ApiError } from '../../kubernetes/api/errors.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { ResourceState } from '../../kubernetes/api/scalable.ts';
import type { DependentSource, ServedKind } from '../../kubernetes/cache/dependent-source.ts';
import type { ReleasePolicy } from '../judge/lifecycle.ts';
import { takeSnapshot } from '../plan/snapshots.ts';
import { type Verdict, emptyProbeMemory } from '../judge/verdict.ts';
import type { Flow, FlowEnd } from '../plan/flow.ts';
import type { Action, Outcome } from '../plan/operation.ts';
import { type Effect, type ShootEvent, type ShootState, advanceShoot } from '../plan/shoot-state.ts';
import type { DependentResource } from '../settings.ts';
import { type Fate, type LogEntry, failedVerdict } from './cases.ts';
import { type ModelObject, type SeedModel, createSeedModel, scalableOf } from './seed-model.ts';

export interface HarnessOptions {
  readonly resources: readonly DependentResource[];
  readonly objects: readonly ModelObject[];
  /** The verdict of a run that begins at `now`; undefined: a failed one. Default: none ever. */
  readonly verdictAt?: (now: number) => Verdict | undefined;
  /** Fate of the nth request, from 0. */
  readonly fateOf?: (index: number, entry: LogEntry) => Fate;
  readonly probeIntervalMs?: number;
  /** For how long a watch of the seed has been away at `now`. Default: none is. */
  readonly seedAwayMs?: (now: number) => number;
  readonly runMs?: number;
  readonly watchLagMs?: number;
  /** How long pods take to follow a changed count. */
  readonly followMs?: number;
  readonly served?: (key: string) => ServedKind;
  readonly synced?: boolean;
  /** Looks at everything after each thing that happened. */
  readonly check?: (harness: Harness) => void;
}

export interface Harness {
  readonly now: () => number;
  readonly model: SeedModel;
  readonly state: () => ShootState;
  readonly log: readonly LogEntry[];
  /** Numbers of the flows as they were started. */
  readonly starts: readonly number[];
  readonly ends: readonly { readonly at: number; readonly flow: number; readonly end: FlowEnd }[];
  readonly inFlight: ReadonlyMap<string, number>;
  /** Lets something happen at that time. */
  at(time: number, happen: () => void): void;
  stop(releasePolicy: ReleasePolicy): void;
  /** Goes on until `time`, or until nothing is left to happen. */
  runUntil(time: number): void;
}

/** A shoot's loop on virtual time against a model of its namespace: requests, watch and pods take the time they are told to. */
export const createHarness = (options: HarnessOptions): Harness => {
  const { resources, probeIntervalMs = 10_000, runMs = 100, watchLagMs = 50, followMs = 1_000 } = options;
  const agenda: { readonly at: number; readonly order: number; readonly happen: () => void }[] = [];
  const log: LogEntry[] = [];
  const starts: number[] = [];
  const ends: { at: number; flow: number; end: FlowEnd }[] = [];
  const inFlight = new Map<string, number>();
  const lastResponses = new Map<string, ResourceState>();
  const seen = new Map(options.objects.map((object) => [refKey(object.ref), object]));
  let now = 0;
  let order = 0;
  let wakeAt = 0;
  let state: ShootState = { probe: emptyProbeMemory, nextRunAt: 0, runUnderWay: false, flows: 0 };

  const at = (time: number, happen: () => void): void => {
    order += 1;
    agenda.push({ at: time, order, happen });
  };

  const model = createSeedModel(options.objects, (key, object) => {
    if (Number.isFinite(watchLagMs)) {
      at(now + watchLagMs, () => {
        if (object === undefined) seen.delete(key);
        else seen.set(key, object);
        advance([]);
      });
    }
    if (object !== undefined) follow(key, object);
  });

  /** Its controller sees the object, and its pods come up or go. */
  const follow = (key: string, { generation, observedGeneration, replicas, ready }: ModelObject): void => {
    if (!Number.isFinite(followMs) || (observedGeneration === generation && ready === replicas)) return;
    at(now + followMs, () => {
      const latest = model.get(key);
      if (latest?.generation !== generation) return;
      model.edit(key, { observedGeneration: generation, ready: latest.replicas });
    });
  };
  for (const object of options.objects) follow(refKey(object.ref), object);

  const sourceOf = (key: string): DependentSource => ({
    served: () => options.served?.(key) ?? { kind: 'served', resource: 'things' },
    store: {
      synced: options.synced ?? true,
      get: () => {
        const object = seen.get(key);
        return object && scalableOf(object);
      },
      entries: () => [],
      subscribe: () => () => undefined,
      whenSynced: () => Promise.resolve(),
    },
  });
  const sources = new Map(resources.map(({ ref }) => [refKey(ref), sourceOf(refKey(ref))]));

  const advance = (events: readonly ShootEvent[]): void => {
    const snapshotOf = (key: string) => {
      const resource = resources.find(({ ref }) => refKey(ref) === key);
      if (resource === undefined) throw new Error(`${key} is no dependent resource`);
      return takeSnapshot(resource, { namespace: 'shoot', sources, lastResponses, overlays: new Map() });
    };
    const step = advanceShoot(state, events, {
      now,
      snapshotOf,
      resources,
      probeIntervalMs,
      seedAwayMs: options.seedAwayMs?.(now) ?? 0,
    });
    ({ state, wakeAt } = step);
    for (const effect of step.effects) perform(effect);
  };

  const perform = (effect: Effect): void => {
    switch (effect.kind) {
      case 'start-run':
        startRun();
        break;
      case 'send':
        send(effect.action, effect.flow);
        break;
      case 'flow-ended':
        ends.push({ at: now, flow: effect.flow.id, end: effect.end });
        for (const [key, flow] of unanswered) if (flow === effect.flow.id) release(key);
        break;
      case 'flow-started':
        starts.push(effect.flow.id);
        break;
      case 'abort-run':
        break;
    }
  };

  const startRun = (): void => {
    const verdict = options.verdictAt === undefined ? failedVerdict : (options.verdictAt(now) ?? failedVerdict);
    at(now + runMs, () => {
      const nextRunAt = options.verdictAt === undefined ? Number.POSITIVE_INFINITY : now + probeIntervalMs;
      const decision = { verdict, reason: verdict.kind, nextRunAt, memory: emptyProbeMemory } as const;
      advance([{ kind: 'run-ended', decision }]);
    });
  };

  /** Reads of a flow, which end with it. */
  const unanswered = new Map<string, number>();
  const release = (key: string): void => {
    unanswered.delete(key);
    inFlight.set(key, (inFlight.get(key) ?? 0) - 1);
  };

  const send = (action: Action, flow: Flow): void => {
    const { key } = action;
    const { id, direction, scope } = flow;
    const entry = { at: now, flow: id, direction, scope, action };
    const fate = options.fateOf?.(log.length, entry) ?? { latencyMs: 20 };
    log.push(entry);
    inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
    if (action.kind === 'read') unanswered.set(key, flow.id);
    let result: Outcome['result'];
    at(now + fate.latencyMs / 2, () => {
      if (fate.interference !== undefined) model.edit(key, fate.interference);
      result = resultOf(action, fate);
    });
    at(now + fate.latencyMs, () => {
      if (action.kind === 'read' && unanswered.get(key) !== flow.id) return;
      release(key);
      if (result.ok && result.value !== undefined) lastResponses.set(key, result.value);
      advance([{ kind: 'answered', flow: flow.id, outcome: { key, result } }]);
    });
  };

  const resultOf = (action: Action, { error: code, landed = false, ...rest }: Fate): Outcome['result'] => {
    const isDone = code === undefined || landed;
    const answer: Outcome['result'] =
      action.kind === 'read' || !isDone
        ? { ok: true, value: model.read(action.key) }
        : model.write(action.key, action.write);
    if (code === undefined) return answer;
    return { ok: false, error: new ApiError({ code, message: `${action.kind} of ${action.key}: ${code}`, ...rest }) };
  };

  const runUntil = (time: number): void => {
    for (let steps = 0; ; steps += 1) {
      if (steps === 100_000) throw new Error('goes on for ever');
      agenda.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = Math.min(agenda[0]?.at ?? Number.POSITIVE_INFINITY, wakeAt);
      if (next > time || next === Number.POSITIVE_INFINITY) break;
      now = Math.max(now, next);
      if (agenda[0] !== undefined && agenda[0].at <= wakeAt) agenda.shift()?.happen();
      else advance([]);
      options.check?.(harness);
    }
    if (Number.isFinite(time)) now = Math.max(now, time);
  };

  const harness: Harness = {
    now: () => now,
    model,
    state: () => state,
    log,
    starts,
    ends,
    inFlight,
    at,
    stop: (releasePolicy) => advance([{ kind: 'stop', releasePolicy }]),
    runUntil,
  };
  return harness;
};
