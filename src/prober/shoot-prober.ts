import { ApiError } from '../kubernetes/api/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { ApiServers } from './api-servers.ts';
import type { AskDeps } from './run-requests.ts';
import { Dependents, type DependentsDeps } from './dependents.ts';
import type { ReleasePolicy, ShootSettings } from './judge/lifecycle.ts';
import { type ProbeSettings, emptyProbeMemory } from './judge/verdict.ts';
import { type ProbeRequest, probe } from './probe.ts';
import { type ExternalProbeSource, ExternalProber } from './external-prober.ts';
import type { Flow } from './plan/flow.ts';
import type { Action } from './plan/operation.ts';
import { type Effect, type ShootEvent, type ShootState, advanceShoot } from './plan/shoot-state.ts';
import { probeSettings, raceOf } from './probe-settings.ts';
import type { ProberMemory, ProberStart } from './prober-memory.ts';
import type { ProberReport } from './report.ts';
import type { ProberSettings } from './settings.ts';

export interface ShootProberDeps extends AskDeps, DependentsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: ProberSettings;
  readonly report: ProberReport;
  readonly apiServers: ApiServers;
  /** Milliseconds for which a watch of Clusters or dependents has been away; 0 while all are open. */
  readonly seedAwayMs: () => number;
  /** Absent: there is no external probe. */
  readonly externalProbe?: ExternalProbeSource;
}

/** The prober of one shoot: one timer, and events that the pure `advanceShoot` turns into effects. */
export class ShootProber {
  readonly #deps: ShootProberDeps;
  readonly #namespace: string;
  readonly #dependents: Dependents;
  readonly #externalProber: ExternalProber | undefined;
  readonly #events: ShootEvent[] = [];
  /** Per flow: ends its reads, and writes that have not left yet. */
  readonly #unsent = new Map<number, AbortController>();
  #settle: (result: 'done' | 'failed') => void = () => undefined;
  readonly #stopped = new Promise<'done' | 'failed'>((resolve) => {
    this.#settle = resolve;
  });
  #settings: ShootSettings;
  #state: ShootState;
  #run = new AbortController();
  #isScheduled = false;
  #cancelTimer = (): void => undefined;
  /** Changes of resources matter while a flow runs. */
  #stopListening = (): void => undefined;

  constructor(deps: ShootProberDeps, { namespace, settings, first }: ProberStart) {
    const { clock } = deps;
    this.#deps = deps;
    this.#namespace = namespace;
    this.#settings = settings;
    this.#dependents = new Dependents(namespace, deps);
    const { probe, nextRunAt } =
      'delayMs' in first ? { probe: emptyProbeMemory, nextRunAt: clock.monotonic() + first.delayMs } : first;
    this.#state = { probe, nextRunAt, runUnderWay: false, flows: 0 };
    // A prober that never probes has none.
    this.#externalProber =
      deps.externalProbe && Number.isFinite(nextRunAt)
        ? new ExternalProber(
            { ...deps, ...deps.externalProbe },
            {
              namespace,
              firstAttemptAt: nextRunAt,
              before: 'delayMs' in first ? undefined : first.externalProbe,
              probe: () => this.#probeSettings(),
              onTurn: (isUnreachable) => this.#post({ kind: 'external-probe-turned', isUnreachable }),
            },
          )
        : undefined;
    this.#schedule();
  }

  /** Settings for the runs from now on; back-off, flow and lease history stay. */
  update(settings: ShootSettings): void {
    this.#settings = settings;
  }

  memory(): ProberMemory {
    const { probe, nextRunAt } = this.#state;
    const memory = { probe, nextRunAt, settings: this.#settings };
    return this.#externalProber === undefined ? memory : { ...memory, externalProbe: this.#externalProber.memory() };
  }

  /** Number of the shoot's resources that carry the mark of meltdown protection. */
  held(): number {
    return this.#dependents.countHeld();
  }

  /**
   * Ends probing for good, and releases what is held. Resolves when all is done, with whether it succeeded. Called again, the later policy holds
   * where the former has not begun, or where it releases less. `reason` goes to log and Events.
   */
  stop(releasePolicy: ReleasePolicy, reason?: string): Promise<'done' | 'failed'> {
    this.#externalProber?.stop();
    this.#post({ kind: 'stop', releasePolicy, ...(reason === undefined ? {} : { reason }) });
    return this.#stopped;
  }

  #post(event: ShootEvent): void {
    this.#events.push(event);
    this.#schedule();
  }

  /** Never within the caller's stack, so that events of one moment are taken in together. */
  readonly #schedule = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#advance());
  };

  #advance(): void {
    this.#isScheduled = false;
    if (this.#state.ended !== undefined) return;
    try {
      this.#step();
    } catch (error) {
      this.#deps.report.broke(this.#namespace, error);
      this.#startOver();
    }
  }

  #step(): void {
    const { clock, settings, seedAwayMs } = this.#deps;
    const { state, effects, wakeAt } = advanceShoot(this.#state, this.#events.splice(0), {
      now: clock.monotonic(),
      snapshotOf: (key) => this.#dependents.snapshotOf(key),
      resources: settings.dependentResources,
      probeIntervalMs: settings.probeIntervalMs,
      seedAwayMs: seedAwayMs(),
    });
    this.#state = state;
    if (state.flow?.ending !== undefined) this.#unsent.get(state.flow.id)?.abort(new Error('the flow is ending'));
    for (const effect of effects) this.#perform(effect);
    this.#cancelTimer();
    this.#cancelTimer = () => undefined;
    if (state.ended !== undefined) {
      this.#stopListening();
      this.#settle(state.ended);
    } else if (Number.isFinite(wakeAt)) {
      this.#cancelTimer = clock.timer(wakeAt - clock.monotonic(), this.#schedule);
    }
  }

  /** After a bug: nothing under way is waited for any more; what the cluster holds is all that the next run needs. */
  #startOver(): void {
    const { clock, settings } = this.#deps;
    this.#run.abort(new Error('the prober starts over'));
    for (const controller of this.#unsent.values()) controller.abort(new Error('the prober starts over'));
    const { flow: _flow, next: _next, ...rest } = this.#state;
    this.#state = { ...rest, runUnderWay: false, nextRunAt: clock.monotonic() + settings.probeIntervalMs };
    this.#cancelTimer();
    this.#cancelTimer = clock.timer(settings.probeIntervalMs, this.#schedule);
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'start-run':
        void this.#probe();
        break;
      case 'abort-run':
        this.#run.abort(new Error('the prober is being stopped'));
        break;
      case 'flow-started':
        this.#unsent.set(effect.flow.id, new AbortController());
        this.#stopListening();
        this.#stopListening = this.#dependents.subscribe(this.#schedule);
        this.#deps.report.flowStarted(this.#namespace, effect.flow);
        break;
      case 'send':
        void this.#send(effect.flow, effect.action);
        break;
      case 'flow-ended':
        this.#endFlow(effect);
        break;
    }
  }

  #endFlow({ flow, end }: Extract<Effect, { kind: 'flow-ended' }>): void {
    this.#unsent.get(flow.id)?.abort(new Error('the flow has ended'));
    this.#unsent.delete(flow.id);
    if (this.#state.flow === undefined) this.#stopListening();
    const now = this.#deps.clock.monotonic();
    this.#deps.report.flowEnded(this.#namespace, { flow, end, now, held: this.held() });
  }

  async #probe(): Promise<void> {
    const { clock, random, settings, report } = this.#deps;
    const run = new AbortController();
    this.#run = run;
    const startedAt = clock.monotonic();
    const jitter = random.next();
    try {
      const result = await probe(this.#deps, {
        namespace: this.#namespace,
        kubeConfigSecretName: settings.kubeConfigSecretName,
        timeoutMs: settings.probeTimeoutMs,
        memory: this.#state.probe,
        input: () => this.#probeInput(jitter),
        signal: run.signal,
      });
      const { verdict: previous } = this.#state;
      report.runEnded(this.#namespace, { result, previous, held: this.held(), missing: this.#dependents.missing() });
      this.#post({ kind: 'run-ended', decision: result.decision });
      this.#externalProber?.runEnded(startedAt, result.decision);
    } catch (error) {
      if (!run.signal.aborted) report.broke(this.#namespace, error);
      this.#post({ kind: 'run-broke', nextRunAt: clock.monotonic() + settings.probeIntervalMs });
    }
  }

  #probeSettings(): ProbeSettings {
    return probeSettings(this.#deps.settings, this.#settings);
  }

  #probeInput(jitter: number): ReturnType<ProbeRequest['input']> {
    const externalProbe = this.#externalProber?.view();
    return {
      settings: this.#probeSettings(),
      dependents: this.#dependents.view(this.#state.flow !== undefined),
      apiServer: this.#deps.apiServers.view(this.#namespace),
      random: jitter,
      ...(externalProbe === undefined ? {} : { externalProbe }),
    };
  }

  async #send(flow: Flow, action: Action): Promise<void> {
    const { clock, report, settings } = this.#deps;
    const signal = this.#unsent.get(flow.id)?.signal ?? AbortSignal.abort();
    try {
      const outcome = await this.#dependents.ask(action, { urgent: flow.direction === 'down', signal });
      const race = raceOf(this.#state.verdict, settings, this.#settings);
      const about = { ...this.#dependents.identify(action.key), race };
      report.answered(this.#namespace, { flow, action, outcome, now: clock.monotonic(), ...about });
      this.#post({ kind: 'answered', flow: flow.id, outcome });
    } catch (error) {
      // An answer no longer wanted, or a bug; a flow must not wait for ever for either.
      if (!signal.aborted) report.broke(this.#namespace, error);
      const result = { ok: false, error: asApiError(error) } as const;
      this.#post({ kind: 'answered', flow: flow.id, outcome: { key: action.key, result } });
    }
  }
}

const asApiError = (cause: unknown): ApiError =>
  new ApiError({ code: 'Rejected', message: cause instanceof Error ? cause.message : String(cause), cause });
