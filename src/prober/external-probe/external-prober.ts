import { getVersion } from '../../gardener/shoot-calls.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import { shootClientFor } from '../shoot-client.ts';
import type { ExternalProbeFacts, ExternalProbeRegistry } from '../judge/external-probe-majority.ts';
import {
  type AttemptResult,
  type ExternalProbeHistory,
  enterAttempt,
  nextAttemptOf,
  resultOfError,
  untriedExternalProbe,
  viewExternalProbe,
} from '../judge/external-probe-history.ts';
import type { Decision } from '../judge/decision.ts';
import type { ExternalProbeView, ProbeSettings } from '../judge/probe-input.ts';
import type { ExternalProbeReport } from '../report/external-probe.ts';
import type { ExternalProbeSettings } from '../settings.ts';

/** Settings and sources that all external probes of a seed share. */
export interface ExternalProbeSource {
  readonly settings: ExternalProbeSettings;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
  /** Key of the Secret's data that holds the kubeconfig. */
  readonly key: string;
  readonly registry: ExternalProbeRegistry;
}

export interface ExternalProberDeps extends ExternalProbeSource {
  readonly clock: Clock;
  readonly random: Random;
  readonly connector: ShootConnector;
  readonly report: ExternalProbeReport;
}

/** State with which the next external prober of the same shoot continues after a change of the configuration. */
export interface ExternalProbeMemory {
  readonly kubeConfigSecretName: string;
  readonly history: ExternalProbeHistory;
  readonly probeAnsweredAt?: number | undefined;
  readonly renewedSince?: number | undefined;
}

export const factsOf = ({
  history,
  renewedSince,
}: Pick<ExternalProbeMemory, 'history' | 'renewedSince'>): ExternalProbeFacts => ({
  state: history.state,
  failingSince: history.failingSince,
  renewedSince,
});

export interface ExternalProberStart {
  readonly cluster: string;
  readonly firstAttemptAt: number;
  /** Memory of the previous prober, if any. It is ignored if it is of another Secret, which may have another address. */
  readonly before: ExternalProbeMemory | undefined;
  readonly settings: () => ProbeSettings;
  /**
   * Called when the verdict may change: the address is no longer reachable or, with `isUnreachable`, an attempt has failed that makes it unreachable. Only the
   * run that follows shows if that counts.
   */
  readonly onChange: (isUnreachable: boolean) => void;
}

/** Probes the API server of one shoot by its public address, on its own schedule, each time over a new connection. */
export class ExternalProber {
  readonly #deps: ExternalProberDeps;
  readonly #start: ExternalProberStart;
  readonly #stopping = new AbortController();
  #history: ExternalProbeHistory;
  #probeAnsweredAt: number | undefined;
  #renewedSince: number | undefined;
  #nextRunAt: number | undefined;
  #isUnderWay = false;
  #cancelTimer = (): void => undefined;
  /** The view when it was last published. */
  #seen: ExternalProbeView;

  constructor(deps: ExternalProberDeps, start: ExternalProberStart) {
    const { before, firstAttemptAt } = start;
    const known = before?.kubeConfigSecretName === deps.settings.kubeConfigSecretName ? before : undefined;
    this.#deps = deps;
    this.#start = start;
    this.#history = known?.history ?? untriedExternalProbe(firstAttemptAt);
    this.#probeAnsweredAt = known?.probeAnsweredAt;
    this.#renewedSince = known?.renewedSince;
    this.#seen = this.#view();
    this.#publish(false);
    this.#schedule();
  }

  /** Returns the view that counts in a verdict now; undefined if the address is only observed. */
  view(): ExternalProbeView | undefined {
    return this.#deps.settings.mode === 'observe' ? undefined : this.#view();
  }

  /** Called when a run has ended that began at `startedAt`. */
  runEnded(startedAt: number, { verdict, nextRunAt, memory }: Decision): void {
    const isAnswered = verdict.kind !== 'failed';
    if (isAnswered) this.#probeAnsweredAt = startedAt;
    this.#renewedSince = isAnswered ? memory.renewedSince : undefined;
    this.#nextRunAt = nextRunAt;
    this.#publish(false);
    this.#schedule();
  }

  memory(): ExternalProbeMemory {
    return {
      kubeConfigSecretName: this.#deps.settings.kubeConfigSecretName,
      history: this.#history,
      probeAnsweredAt: this.#probeAnsweredAt,
      renewedSince: this.#renewedSince,
    };
  }

  stop(): void {
    const { registry, report } = this.#deps;
    this.#stopping.abort(new Error('the external probe has ended'));
    this.#cancelTimer();
    registry.forget(this.#start.cluster);
    report.externalProbeStopped(this.#start.cluster);
  }

  #view(): ExternalProbeView {
    const { registry, settings, clock } = this.#deps;
    const { mode } = settings;
    const { expiryAgeMs } = this.#start.settings();
    if (registry.faultIsOurs()) return { mode, state: 'unknown' };
    return viewExternalProbe(this.#history, { mode, expiryAgeMs, now: clock.monotonic() });
  }

  #schedule(): void {
    const { clock, settings } = this.#deps;
    this.#cancelTimer();
    if (this.#isUnderWay || this.#stopping.signal.aborted) return;
    const at = nextAttemptOf(this.#history, {
      mode: settings.mode,
      timeoutMs: settings.timeoutMs,
      expiryAgeMs: this.#start.settings().expiryAgeMs,
      probeAnsweredAt: this.#probeAnsweredAt,
      nextRunAt: this.#nextRunAt,
    });
    if (Number.isFinite(at)) this.#cancelTimer = clock.timer(at - clock.monotonic(), () => void this.#attempt());
  }

  async #attempt(): Promise<void> {
    const { clock, random, report, settings } = this.#deps;
    this.#isUnderWay = true;
    const begun = { startedAt: clock.monotonic(), probeAnsweredAt: this.#probeAnsweredAt };
    const result = await this.#ask();
    this.#isUnderWay = false;
    if (this.#stopping.signal.aborted) return;
    const { probeIntervalMs, backoffJitterFactor } = this.#start.settings();
    const intervalMs = probeIntervalMs * (1 + random.next() * backoffJitterFactor);
    const before = this.#history;
    const ended = { ...begun, endedAt: clock.monotonic(), result, intervalMs };
    this.#history = enterAttempt(before, ended, settings);
    report.externalProbeAttempted(this.#start.cluster, { result, before, history: this.#history });
    this.#publish(before.state !== this.#history.state && this.#history.state === 'unreachable');
    this.#schedule();
  }

  async #ask(): Promise<AttemptResult> {
    const { kubeconfigs, key, settings, report } = this.#deps;
    const { cluster } = this.#start;
    const { signal } = this.#stopping;
    if (!kubeconfigs.synced) return { kind: 'unusable', problem: 'the Secrets with its kubeconfig are not known yet' };
    try {
      const connection = shootClientFor(this.#deps, `${cluster}/${settings.kubeConfigSecretName}`, key);
      if (!connection.ok) return resultOfError(connection.error);
      try {
        await connection.value.client.call(getVersion, { signal, timeoutMs: settings.timeoutMs });
        return { kind: 'answered' };
      } finally {
        connection.value.close();
      }
    } catch (error) {
      if (error instanceof ApiError) return resultOfError(error);
      if (!signal.aborted) report.unexpectedError(cluster, error);
      return { kind: 'unusable', problem: 'unexpected error' };
    }
  }

  /** Publishes the current state to registry and report, and calls `onChange` if the verdict may change. */
  #publish(isNewlyUnreachable: boolean): void {
    const { registry, report } = this.#deps;
    const { cluster, onChange } = this.#start;
    if (this.#stopping.signal.aborted) return;
    registry.set(cluster, factsOf({ history: this.#history, renewedSince: this.#renewedSince }));
    report.externalProbeState(cluster, registry.faultIsOurs() ? 'unknown' : this.#history.state);
    const before = this.#seen;
    this.#seen = this.#view();
    const isUnreachable = this.#seen.state === 'unreachable' && before.state !== 'unreachable';
    if (isNewlyUnreachable || isUnreachable) onChange(true);
    else if (before.state === 'reachable' && this.#seen.state !== 'reachable') onChange(false);
  }
}
