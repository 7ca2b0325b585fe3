import { rejected } from './scale/act.ts';
import { Dependents, type DependentsDeps } from './scale/dependents.ts';
import { type ProbingEnd, type ShootSettings, sameSettings } from './clusters/lifecycle.ts';
import { type ProbeRequest, probe, type ProbeDeps } from './observe/probe.ts';
import { ExternalProber } from './observe/external-prober.ts';
import { kubeconfigKeyOf } from './clusters/cluster-source.ts';
import { forCluster } from './scale/held.ts';
import {
  advanceShoot,
  isThrottled,
  mayWriteNow,
  type Effect,
  type ShootContext,
  type ShootEvent,
  type ShootProberState,
  initialState,
  scalingUnderWay,
} from './scale/advance-shoot.ts';
import type { Action, ActionResponse } from './scale/operation.ts';
import { leader, type Role } from './scale/desired.ts';
import type { Scaling } from './scale/scaling.ts';
import { shootClientFor } from './observe/run-requests.ts';
import type { ShootAccess } from '../status/state/schema.ts';
import type { ShootProberView, Emit } from './report/events.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { Store } from '../kubernetes/cache/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Pauses } from './scale/pauses.ts';
import { type ProbeGate, runNeededBy } from './observe/probe-gate.ts';
import type { RefTemplate } from './config/ref-template.ts';
import type { ProberSettings } from './config/settings.ts';
import { type ProbeMemory, probeSettings } from './judge/judgement.ts';

/** Dependencies of the prober of a shoot. */
export interface ShootProberDeps extends ProbeDeps, DependentsDeps {
  readonly clock: Clock;
  /** Identity of this process, for the annotations that it writes. */
  readonly identity: string;
  readonly random: Random;
  readonly settings: ProberSettings;
  readonly emit: Emit;
  readonly gate: Pick<ProbeGate, 'enter'>;
  /** True while a watch of dependents is interrupted. */
  readonly isWatchInterrupted: () => boolean;
  /** As in `PermissionContext`. Default: never. */
  readonly isClusterStale?: () => boolean;
  /** Absent if nothing can be paused. */
  readonly pauses?: Pick<Pauses, 'of'>;
  /** Kubeconfig texts of the external probes, by `namespace/name` of their Secret. Absent if there is no external probe. */
  readonly externalKubeconfigs?: Pick<Store<string | undefined>, 'get' | 'synced'>;
  /** Returns a client of the seed that refuses a write, at the moment of sending, unless `mayWrite` returns true. Default: `seed`. */
  readonly seedFor?: (mayWrite: () => boolean) => KubeClient;
  /** Returns which writes this process may send now. Default: those of the leader. */
  readonly role?: () => Role;
}

/** State with which a prober starts: after a change of the configuration that of its predecessor. */
export interface ProberMemory {
  readonly probe: ProbeMemory;
  /** Monotonic instant in milliseconds. A back-off continues across a change of the configuration. Infinity: the prober never probes. */
  readonly nextRunAt: number;
  readonly settings: ShootSettings;
}

/** What one configuration leaves to the next, by Cluster. */
export type ProberMemories = ReadonlyMap<string, ProberMemory>;

/** Returns the memory of a prober. What is desired is not remembered: the next prober judges at once if something is to be scaled, unless it is throttled. */
export const memoryOf = (state: ShootProberState, now: number): Pick<ProberMemory, 'probe' | 'nextRunAt'> => {
  const { probe, nextRunAt, desired } = state;
  const goesOn = (desired?.direction === 'down' || scalingUnderWay(state) !== undefined) && !isThrottled(state);
  return { probe, nextRunAt: goesOn ? Math.min(nextRunAt, now) : nextRunAt };
};

/** The prober of one shoot: one timer, and events that the pure `advanceShoot` turns into effects. */
export class ShootProber {
  readonly #deps: ShootProberDeps;
  readonly #cluster: string;
  readonly #dependents: Dependents;
  /** The resources that a scale-down may hold together, as they are configured for all clusters. */
  readonly #siblings: readonly RefTemplate[];
  /** Writes through it are sent only while this process may write. */
  readonly #writer: KubeClient;
  #externalProber: ExternalProber | undefined;
  readonly #events: ShootEvent[] = [];
  /** The latest end of probing; absent while the shoot is probed. */
  #end: ProbingEnd | undefined;
  #onEnded: () => void;
  #settings: ShootSettings;
  #state: ShootProberState;
  #runAbort = new AbortController();
  /** Ends reads, and writes that are not sent yet, with their scaling. */
  #unsent = new AbortController();
  #isScheduled = false;
  #cancelTimer = (): void => undefined;
  readonly #stopListening: () => void;
  readonly #inFlight = new Set<string>();

  /** `onEnded`: called when probing has ended and what is held has been given back, or could not be. */
  constructor(
    sharedDeps: ShootProberDeps,
    cluster: string,
    { onEnded, probe, nextRunAt, settings }: ProberMemory & { readonly onEnded: () => void },
  ) {
    const deps = forCluster(sharedDeps, cluster);
    this.#deps = deps;
    this.#cluster = cluster;
    this.#settings = settings;
    this.#onEnded = onEnded;
    this.#dependents = new Dependents(cluster, deps);
    this.#siblings = sharedDeps.settings.dependentResources.flatMap(({ ref, scaleDown, restoreOnly }) =>
      scaleDown || restoreOnly ? [ref] : [],
    );
    this.#writer = deps.seedFor?.(() => mayWriteNow(this.#state, this.#context())) ?? deps.seed;
    this.#state = initialState({ probe, nextRunAt });
    this.#stopListening = this.#dependents.subscribe(this.#schedule);
    // A prober that never probes has no external prober.
    this.#externalProber = Number.isFinite(nextRunAt) ? this.#startExternalProber(nextRunAt) : undefined;
    this.#schedule();
  }

  /** Probes with these settings from the next run on, also if it was giving back: from now on verdicts decide. */
  run(settings: ShootSettings): void {
    const isChanged = !sameSettings(this.#settings, settings);
    this.#settings = settings;
    if (isChanged) this.#deps.emit({ kind: 'settings-changed', cluster: this.#cluster });
    if (this.#end === undefined) return;
    this.#end = undefined;
    this.#externalProber = this.#startExternalProber(this.#deps.clock.monotonic());
    this.#post({ kind: 'resume' });
  }

  /** Ends probing, and gives back what is held. The latest of several ends applies. */
  stop({ releasePolicy, reason }: ProbingEnd): void {
    if (this.#end?.releasePolicy === releasePolicy && this.#end.reason === reason) return;
    this.#end = { releasePolicy, reason };
    this.#deps.emit({ kind: 'probing-stopped', cluster: this.#cluster, reason, releasePolicy });
    this.#externalProber?.stop();
    this.#post({ kind: 'stop', end: this.#end });
  }

  /** Ends all work. Resolves when no request is in flight any more. */
  close(): Promise<void> {
    const end = { releasePolicy: 'nothing', reason: 'the configuration changes, or the program ends' } as const;
    this.#end = end;
    this.#externalProber?.stop();
    return new Promise((resolve) => {
      this.#onEnded = resolve;
      this.#post({ kind: 'stop', end });
    });
  }

  /** True from the end of probing on, until it begins again. */
  isEnding(): boolean {
    return this.#end !== undefined;
  }

  memory(): ProberMemory {
    return { ...memoryOf(this.#state, this.#deps.clock.monotonic()), settings: this.#settings };
  }

  /** Probes again at once after a failed run: the kubeconfig may have been the reason. */
  kubeconfigChanged(): void {
    this.#post({ kind: 'kubeconfig-changed' });
  }

  /** Starts work that was waiting for leadership or for the end of a pause. */
  wake(): void {
    this.#schedule();
  }

  /** Returns the number of the shoot's resources that are held. */
  held(): number {
    return this.#dependents.facts().held.length;
  }

  #post(event: ShootEvent): void {
    this.#events.push(event);
    this.#schedule();
  }

  /** Schedules a step, never within the caller's stack, so that events of one moment are processed together. */
  readonly #schedule = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#advance());
  };

  #advance(): void {
    this.#isScheduled = false;
    if (this.#state.ended) return;
    const events = this.#events.splice(0);
    try {
      this.#step(events);
    } catch (error) {
      this.#deps.emit({ kind: 'unexpected-error', cluster: this.#cluster, error });
      this.#startOver();
    }
  }

  #role(): Role {
    return this.#deps.role?.() ?? leader;
  }

  #context(): ShootContext {
    const { clock, identity, settings, isWatchInterrupted, pauses } = this.#deps;
    const pause = pauses?.of(this.#cluster);
    return {
      now: clock.monotonic(),
      wallNow: clock.now(),
      holder: { by: identity, cluster: this.#cluster, with: this.#siblings },
      snapshotOf: (key) => this.#dependents.snapshotOf(key),
      resources: this.#dependents.resources(),
      probeIntervalMs: settings.probeIntervalMs,
      mustRead: isWatchInterrupted(),
      isClusterStale: this.#deps.isClusterStale?.(),
      role: this.#role(),
      pausedUntil: pause && clock.monotonic() + (pause.until ?? Number.POSITIVE_INFINITY) - clock.now(),
      inFlight: this.#inFlight,
    };
  }

  #step(events: readonly ShootEvent[]): void {
    const { clock } = this.#deps;
    const { state, effects, wakeAt } = advanceShoot(this.#state, events, this.#context());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#deps.emit({ kind: 'stepped', cluster: this.#cluster, readView: this.#view });
    this.#cancelTimer();
    if (state.ended) {
      this.#stopListening();
      this.#onEnded();
    } else if (Number.isFinite(wakeAt)) {
      this.#cancelTimer = clock.timer(wakeAt - clock.monotonic(), this.#schedule);
    }
  }

  /** Starts over after a bug, without waiting for work in progress: the next run needs nothing but the state in the cluster. */
  #startOver(): void {
    const { clock, settings } = this.#deps;
    for (const work of [this.#runAbort, this.#unsent]) work.abort(new Error('the prober starts over'));
    const nextRunAt = clock.monotonic() + settings.probeIntervalMs;
    this.#state = initialState({ probe: this.#state.probe, nextRunAt });
    if (this.#end !== undefined) this.#events.push({ kind: 'stop', end: this.#end });
    this.#cancelTimer();
    this.#cancelTimer = clock.timer(settings.probeIntervalMs, this.#schedule);
  }

  #perform(effect: Effect): void {
    const { emit, clock } = this.#deps;
    switch (effect.kind) {
      case 'start-run':
        void this.#probe();
        break;
      case 'abort-run':
        this.#runAbort.abort(new Error('the prober is being stopped'));
        break;
      case 'scaling-started':
        this.#unsent = new AbortController();
        emit({ ...effect, cluster: this.#cluster });
        break;
      case 'send':
        void this.#send(effect);
        break;
      case 'scaling-ended':
        this.#unsent.abort(new Error('the scaling has ended'));
        emit({ ...effect, cluster: this.#cluster, now: clock.monotonic() });
        break;
    }
  }

  async #probe(): Promise<void> {
    const { clock, random, settings, emit, gate } = this.#deps;
    const run = new AbortController();
    this.#runAbort = run;
    const jitter = random.next();
    try {
      const facts = { ...this.#probeSettings(), now: clock.monotonic(), isHeld: this.held() > 0 };
      const neededBy = runNeededBy(this.#state, facts);
      await gate.enter({ neededBy, signal: run.signal });
      const result = await probe(this.#deps, {
        cluster: this.#cluster,
        ...this.#kubeconfig(),
        timeoutMs: settings.probeTimeoutMs,
        memory: this.#state.probe,
        input: () => this.#probeInput(jitter),
        signal: run.signal,
      });
      // To the report, then to the loop.
      emit({ kind: 'run-ended', cluster: this.#cluster, result, before: this.#state.probe });
      this.#post({ kind: 'run-ended', decision: result.decision });
    } catch (error) {
      if (!run.signal.aborted) emit({ kind: 'unexpected-error', cluster: this.#cluster, error });
      this.#post({ kind: 'run-aborted', nextRunAt: clock.monotonic() + settings.probeIntervalMs });
    }
  }

  readonly #view = (): ShootProberView => ({
    state: this.#state,
    settings: this.#probeSettings(),
    ...this.#dependents.facts(),
    reachability: this.#state.end === undefined ? this.#externalProber?.reachability : undefined,
    access: this.#access,
    isClusterStale: this.#deps.isClusterStale?.(),
  });

  /** Returns where the kubeconfig of the shoot is: `namespace/name` of its Secret, and the key of its data. */
  #kubeconfig(): { readonly secret: string; readonly secretKey: string } {
    const { settings } = this.#deps;
    const { kubeConfigSecretName: name } = settings;
    return { secret: `${this.#cluster}/${name}`, secretKey: kubeconfigKeyOf(settings, name) };
  }

  readonly #access = (): ShootAccess => {
    const { secret, secretKey: key } = this.#kubeconfig();
    const connection = shootClientFor(this.#deps, secret, key);
    if (!connection.ok) return { secret, key };
    connection.value.close();
    return { secret, key, server: connection.value.server };
  };

  #probeSettings(): ReturnType<typeof probeSettings> {
    return { ...probeSettings(this.#deps.settings, this.#settings), isTriggered: this.#externalProber?.isTriggering() };
  }

  #probeInput(jitter: number): ReturnType<ProbeRequest['input']> {
    const isScaling = scalingUnderWay(this.#state) !== undefined;
    const dependents = this.#dependents.view({ isScaling, leads: this.#role().leads });
    return { settings: this.#probeSettings(), dependents, random: jitter };
  }

  #startExternalProber(firstRunAt: number): ExternalProber | undefined {
    const { settings, externalKubeconfigs: kubeconfigs, clock } = this.#deps;
    const { externalProbe } = settings;
    if (externalProbe === undefined || kubeconfigs === undefined) return undefined;
    const key = kubeconfigKeyOf(settings, externalProbe.kubeConfigSecretName);
    return new ExternalProber(
      { ...this.#deps, externalProbe, kubeconfigs, key },
      {
        cluster: this.#cluster,
        firstDelayMs: Math.max(0, firstRunAt - clock.monotonic()),
        onUnreachable: () => this.#post({ kind: 'address-unreachable' }),
      },
    );
  }

  /** Sends the one request of an action. Neither an abort nor a bug may leave a resource waiting for ever. */
  async #send({ scaling, action }: Extract<Effect, { kind: 'send' }>): Promise<void> {
    this.#inFlight.add(action.key);
    const response = await this.#respond(scaling, action);
    this.#inFlight.delete(action.key);
    this.#post({ kind: 'responded', response });
  }

  async #respond(scaling: Scaling, action: Action): Promise<ActionResponse> {
    const { clock, emit } = this.#deps;
    const { signal } = this.#unsent;
    try {
      const options = { urgent: scaling.direction === 'down', signal, seed: this.#writer };
      const outcome = await this.#dependents.send(action, options);
      const about = { ...this.#dependents.identify(action.key), now: clock.monotonic(), verdict: this.#state.verdict };
      emit({ kind: 'response-received', cluster: this.#cluster, scaling, action, outcome, ...about });
      return outcome;
    } catch (error) {
      if (!signal.aborted) emit({ kind: 'unexpected-error', cluster: this.#cluster, error });
      return { key: action.key, result: rejected(error) };
    }
  }
}
