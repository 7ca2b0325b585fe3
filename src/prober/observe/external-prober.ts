import { getVersion } from '../../gardener/shoot-calls.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import {
  type AttemptResult,
  type ExternalProbeHistory,
  type Reachability,
  enterAttempt,
  resultOfError,
  untilNextAttempt,
  untriedExternalProbe,
} from '../judge/external-probe.ts';
import type { Emit } from '../report/events.ts';
import type { ExternalProbeSettings, ProberSettings } from '../config/settings.ts';
import { shootClientFor } from './run-requests.ts';

/** What the external probes of all shoots of a seed share. */
export interface ExternalProberDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly connector: ShootConnector;
  readonly emit: Emit;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Pick<Store<string | undefined>, 'get' | 'synced'>;
  /** Key of the Secret's data that holds the kubeconfig. */
  readonly key: string;
  readonly settings: Pick<ProberSettings, 'probeIntervalMs' | 'backoffJitterFactor'>;
  readonly externalProbe: ExternalProbeSettings;
}

export interface ExternalProberStart {
  readonly cluster: string;
  readonly firstDelayMs: number;
  /** Called when the address turns unreachable. */
  readonly onUnreachable: () => void;
}

/** Probes the API server of one shoot by its public address, on its own schedule, each time over a new connection. */
export class ExternalProber {
  readonly #deps: ExternalProberDeps;
  readonly #start: ExternalProberStart;
  readonly #stopping = new AbortController();
  #history: ExternalProbeHistory = untriedExternalProbe;
  #cancelTimer = (): void => undefined;

  constructor(deps: ExternalProberDeps, start: ExternalProberStart) {
    this.#deps = deps;
    this.#start = start;
    this.#schedule(start.firstDelayMs);
  }

  get reachability(): Reachability {
    return this.#history.state;
  }

  /** True if the address is unreachable, and that may shorten the time after which all candidates count as silent. */
  isTriggering(): boolean {
    return this.#deps.externalProbe.mode === 'trigger' && this.#history.state === 'unreachable';
  }

  stop(): void {
    this.#stopping.abort(new Error('the external probe has ended'));
    this.#cancelTimer();
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer = this.#deps.clock.timer(delayMs, () => void this.#attempt());
  }

  async #attempt(): Promise<void> {
    const { clock, random, emit, settings, externalProbe } = this.#deps;
    const { cluster, onUnreachable } = this.#start;
    const startedAt = clock.monotonic();
    const result = await this.#ask();
    if (this.#stopping.signal.aborted) return;
    const before = this.#history;
    this.#history = enterAttempt(before, result, externalProbe);
    emit({ kind: 'external-probe-attempted', cluster, result, before, history: this.#history });
    if (this.#history.state === 'unreachable' && before.state !== 'unreachable') onUnreachable();
    const intervalMs = settings.probeIntervalMs * (1 + random.next() * settings.backoffJitterFactor);
    this.#schedule(untilNextAttempt(this.#history, result, { tookMs: clock.monotonic() - startedAt, intervalMs }));
  }

  async #ask(): Promise<AttemptResult> {
    const { kubeconfigs, key, externalProbe, emit } = this.#deps;
    const { cluster } = this.#start;
    const { signal } = this.#stopping;
    if (!kubeconfigs.synced) return { kind: 'unusable', problem: 'the Secrets with its kubeconfig are not known yet' };
    try {
      const connection = shootClientFor(this.#deps, `${cluster}/${externalProbe.kubeConfigSecretName}`, key);
      if (!connection.ok) return resultOfError(connection.error);
      try {
        await connection.value.client.call(getVersion, { signal, timeoutMs: externalProbe.timeoutMs });
        return { kind: 'answered' };
      } finally {
        connection.value.close();
      }
    } catch (error) {
      if (error instanceof ApiError) return resultOfError(error);
      if (!signal.aborted) emit({ kind: 'unexpected-error', cluster, error });
      return { kind: 'unusable', problem: 'unexpected error' };
    }
  }
}
