import { ApiError, type ProberSettings } from '../../domain/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import type { ApiServers } from './api-servers.ts';
import { createDependents, type DependentsDeps } from './dependents.ts';
import type { Flow } from './flow.ts';
import type { ReleasePolicy, ShootSettings } from './lifecycle.ts';
import type { AskDeps } from './ask.ts';
import { probe, type ProbeRequest } from './observe.ts';
import type { Action } from './operation.ts';
import {
  type ExternalProbeMemory,
  type ExternalProber,
  type ExternalProbeSource,
  startExternalProber,
} from './outside-prober.ts';
import { probeSettings, raceOf } from './probe-settings.ts';
import type { ProberReport } from './report.ts';
import { type Effect, type ShootContext, type ShootEvent, type ShootState, advanceShoot } from './shoot.ts';
import { emptyProbeMemory, type ProbeMemory } from './verdict.ts';

export interface ShootProberDeps extends AskDeps, DependentsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: ProberSettings;
  readonly report: ProberReport;
  readonly apiServers: ApiServers;
  /** Milliseconds for which a watch of Clusters or dependents has been away; 0 while all are open. */
  readonly seedAwayMs: () => number;
  /** Absent: there is no outside path. */
  readonly externalProbe?: ExternalProbeSource;
}

/** What a prober of the same shoot goes on with after a change of the configuration. */
export interface ProberMemory {
  readonly probe: ProbeMemory;
  /** Monotonic milliseconds: a back-off holds across the change. */
  readonly nextRunAt: number;
  readonly settings: ShootSettings;
  readonly externalProbe?: ExternalProbeMemory;
}

/** The prober of one shoot. */
export interface ShootProber {
  /** Settings for the runs from now on; back-off, flow and lease memory stay. */
  update(settings: ShootSettings): void;
  memory(): ProberMemory;
  /** Resources of the shoot that carry the mark of meltdown protection. */
  held(): number;
  /**
   * Ends probing for good, and gives back what is held. Resolves when all is done, with whether it succeeded. Called again it takes
   * over the later farewell only if the former one has not begun. `reason` is told in log and Events.
   */
  stop(releasePolicy: ReleasePolicy, reason?: string): Promise<'done' | 'failed'>;
}

/** `first`: when the first run is due, or the memory of the prober before. */
export interface ProberStart {
  readonly namespace: string;
  readonly settings: ShootSettings;
  readonly first: { readonly delayMs: number } | ProberMemory;
}

export const startShootProber = (deps: ShootProberDeps, start: ProberStart): ShootProber => {
  const { clock, random, report, settings } = deps;
  const { namespace } = start;
  const dependents = createDependents(namespace, deps);
  const events: ShootEvent[] = [];
  /** Per flow: what was not sent yet, and what is only read. */
  const unsent = new Map<number, AbortController>();
  let shootSettings = start.settings;
  let run = new AbortController();
  let cancelTimer: (() => void) | undefined;
  /** Changes of resources matter while a flow runs. */
  let stopListening: () => void = () => undefined;
  let scheduled = false;
  let state: ShootState = {
    ...('delayMs' in start.first
      ? { probe: emptyProbeMemory, nextRunAt: clock.monotonic() + start.first.delayMs }
      : { probe: start.first.probe, nextRunAt: start.first.nextRunAt }),
    runUnderWay: false,
    flows: 0,
  };
  let settleStopped: (result: 'done' | 'failed') => void = () => undefined;
  const stopped = new Promise<'done' | 'failed'>((resolve) => {
    settleStopped = resolve;
  });

  const post = (event: ShootEvent): void => {
    events.push(event);
    schedule();
  };

  /** Never within the caller's stack, so that events of one moment are taken in together. */
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(advance);
  };

  const context = (): ShootContext => ({
    now: clock.monotonic(),
    snapshotOf: (key) => dependents.snapshotOf(key),
    resources: settings.dependentResources,
    probeIntervalMs: settings.probeIntervalMs,
    seedAwayMs: deps.seedAwayMs(),
  });

  const advance = (): void => {
    scheduled = false;
    if (state.ended !== undefined) return;
    try {
      step();
    } catch (error) {
      report.broke(namespace, error);
      startOver();
    }
  };

  /** After a bug: nothing under way is waited for any more; what the cluster holds is all that the next run needs. */
  const startOver = (): void => {
    run.abort(new Error('the prober starts over'));
    for (const controller of unsent.values()) controller.abort(new Error('the prober starts over'));
    const { flow: _flow, next: _next, ...rest } = state;
    state = { ...rest, runUnderWay: false, nextRunAt: clock.monotonic() + settings.probeIntervalMs };
    cancelTimer?.();
    cancelTimer = clock.timer(settings.probeIntervalMs, schedule);
  };

  const step = (): void => {
    const { state: next, effects, wakeAt } = advanceShoot(state, events.splice(0), context());
    state = next;
    // Ends reads, and writes that have not left yet.
    if (state.flow?.ending !== undefined) unsent.get(state.flow.id)?.abort(new Error('the flow is ending'));
    for (const effect of effects) perform(effect);
    cancelTimer?.();
    cancelTimer = undefined;
    if (state.ended !== undefined) end(state.ended);
    else if (Number.isFinite(wakeAt)) cancelTimer = clock.timer(wakeAt - clock.monotonic(), schedule);
  };

  const end = (result: 'done' | 'failed'): void => {
    stopListening();
    settleStopped(result);
  };

  const perform = (effect: Effect): void => {
    switch (effect.kind) {
      case 'start-run':
        void startRun();
        break;
      case 'abort-run':
        run.abort(new Error('the prober is being stopped'));
        break;
      case 'flow-started':
        unsent.set(effect.flow.id, new AbortController());
        stopListening();
        stopListening = dependents.subscribe(schedule);
        report.flowStarted(namespace, effect.flow);
        break;
      case 'send':
        void send(effect.flow, effect.action);
        break;
      case 'flow-ended':
        unsent.get(effect.flow.id)?.abort(new Error('the flow has ended'));
        unsent.delete(effect.flow.id);
        if (state.flow === undefined) stopListening();
        report.flowEnded(namespace, { ...effect, now: clock.monotonic(), held: dependents.countHeld() });
        break;
    }
  };

  const probeInput = (jitter: number): ReturnType<ProbeRequest['input']> => {
    const path = externalProbe?.view();
    return {
      settings: probeSettings(settings, shootSettings),
      dependents: dependents.view(state.flow !== undefined),
      apiServer: deps.apiServers.view(namespace),
      random: jitter,
      ...(path === undefined ? {} : { externalProbe: path }),
    };
  };

  const startRun = async (): Promise<void> => {
    run = new AbortController();
    const jitter = random.next();
    const startedAt = clock.monotonic();
    try {
      const result = await probe(deps, {
        namespace,
        kubeConfigSecretName: settings.kubeConfigSecretName,
        timeoutMs: settings.probeTimeoutMs,
        memory: state.probe,
        input: () => probeInput(jitter),
        signal: run.signal,
      });
      report.runEnded(namespace, {
        result,
        previous: state.verdict,
        held: dependents.countHeld(),
        missing: dependents.missing(),
      });
      post({ kind: 'run-ended', decision: result.decision });
      externalProbe?.runEnded(startedAt, result.decision);
    } catch (error) {
      if (!run.signal.aborted) report.broke(namespace, error);
      post({ kind: 'run-broke', nextRunAt: clock.monotonic() + settings.probeIntervalMs });
    }
  };

  const send = async (flow: Flow, action: Action): Promise<void> => {
    const signal = unsent.get(flow.id)?.signal ?? AbortSignal.abort();
    try {
      const outcome = await dependents.ask(action, { urgent: flow.direction === 'down', signal });
      const race = raceOf(state.verdict, settings, shootSettings);
      const about = { ...dependents.identify(action.key), race };
      report.answered(namespace, { flow, action, outcome, now: clock.monotonic(), ...about });
      post({ kind: 'answered', flow: flow.id, outcome });
    } catch (error) {
      // An answer no longer wanted, or a bug; a flow must not wait for ever for either.
      if (!signal.aborted) report.broke(namespace, error);
      post({
        kind: 'answered',
        flow: flow.id,
        outcome: { key: action.key, result: { ok: false, error: asApiError(error) } },
      });
    }
  };

  const startExternal = (source: ExternalProbeSource): ExternalProber =>
    startExternalProber(
      { ...deps, ...source },
      {
        namespace,
        firstAttemptAt: state.nextRunAt,
        before: 'delayMs' in start.first ? undefined : start.first.externalProbe,
        probe: () => probeSettings(settings, shootSettings),
        onTurn: (isUnreachable) => post({ kind: 'external-probe-turned', isUnreachable }),
      },
    );
  /** None for a prober that never probes. */
  const externalProbe =
    Number.isFinite(state.nextRunAt) && deps.externalProbe ? startExternal(deps.externalProbe) : undefined;

  schedule();
  return {
    update: (next) => {
      shootSettings = next;
    },
    held: () => dependents.countHeld(),
    memory: () => {
      const kept = { probe: state.probe, nextRunAt: state.nextRunAt, settings: shootSettings };
      return externalProbe === undefined ? kept : { ...kept, externalProbe: externalProbe.memory() };
    },
    stop: (releasePolicy, reason) => {
      externalProbe?.stop();
      post({ kind: 'stop', releasePolicy, ...(reason === undefined ? {} : { reason }) });
      return stopped;
    },
  };
};

const asApiError = (cause: unknown): ApiError =>
  new ApiError({ code: 'Rejected', message: cause instanceof Error ? cause.message : String(cause), cause });
