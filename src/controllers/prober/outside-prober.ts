import { ApiError, getVersion, type ExternalProbeSettings } from '../../domain/index.ts';
import type { Clock, Random, ShootConnector, Store } from '../../ports/index.ts';
import { connectShoot } from './connect.ts';
import type { ExternalProbeFacts, ExternalProbeRegistry } from './outside-majority.ts';
import {
  type ExternalProbeHistory,
  type AttemptResult,
  nextAttemptOf,
  resultOfError,
  enterAttempt,
  untriedExternalProbe,
  viewExternalProbe,
} from './outside-path.ts';
import type { ExternalProbeReport } from './report-outside.ts';
import type { Decision, ExternalProbeView, ProbeSettings } from './verdict.ts';

/** What all outside paths of a seed have in common. */
export interface ExternalProbeSource {
  readonly settings: ExternalProbeSettings;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
  readonly registry: ExternalProbeRegistry;
}

export interface ExternalProberDeps extends ExternalProbeSource {
  readonly clock: Clock;
  readonly random: Random;
  readonly connector: ShootConnector;
  readonly report: ExternalProbeReport;
}

/** What the outside prober of the same shoot goes on with after a change of the configuration. */
export interface ExternalProbeMemory {
  readonly kubeConfigSecretName: string;
  readonly history: ExternalProbeHistory;
  readonly insideAnsweredAt?: number | undefined;
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
  readonly namespace: string;
  readonly firstAttemptAt: number;
  /** Memory of the prober before, if any; another Secret is another path, of which nothing is known. */
  readonly before: ExternalProbeMemory | undefined;
  readonly probe: () => ProbeSettings;
  /** Called when the path has turned so that the verdict may: it is no longer whole, or, with `broken`, broken for certain. */
  readonly onTurn: (broken: boolean) => void;
}

/** Tries the outside path of one shoot on a schedule of its own, each time over a new connection. */
export interface ExternalProber {
  /** As it counts in a verdict now; undefined where it is only observed. */
  view(): ExternalProbeView | undefined;
  /** A run has ended that began at `startedAt`. */
  runEnded(startedAt: number, decision: Decision): void;
  memory(): ExternalProbeMemory;
  stop(): void;
}

export const startExternalProber = (deps: ExternalProberDeps, start: ExternalProberStart): ExternalProber => {
  const { clock, random, registry, report, settings } = deps;
  const { namespace, onTurn } = start;
  const { kubeConfigSecretName, timeoutMs, mode } = settings;
  const stopping = new AbortController();
  const known = start.before?.kubeConfigSecretName === kubeConfigSecretName ? start.before : undefined;
  let history = known?.history ?? untriedExternalProbe(start.firstAttemptAt);
  let insideAnsweredAt = known?.insideAnsweredAt;
  let renewedSince = known?.renewedSince;
  let nextRunAt: number | undefined;
  let underWay = false;
  let cancel: () => void = () => undefined;

  const view = (): ExternalProbeView => {
    const { limitMs } = start.probe();
    if (registry.faultIsOurs()) return { mode, state: 'unknown' };
    return viewExternalProbe(history, { mode, limitMs, now: clock.monotonic() });
  };
  let seen = view();

  const schedule = (): void => {
    cancel();
    if (underWay || stopping.signal.aborted) return;
    const { limitMs } = start.probe();
    const at = nextAttemptOf(history, { mode, timeoutMs, limitMs, insideAnsweredAt, nextRunAt });
    if (Number.isFinite(at)) cancel = clock.timer(at - clock.monotonic(), () => void attempt());
  };

  const attempt = async (): Promise<void> => {
    underWay = true;
    const begun = { startedAt: clock.monotonic(), insideAnsweredAt };
    const result = await ask();
    underWay = false;
    if (stopping.signal.aborted) return;
    const { probeIntervalMs, backoffJitterFactor } = start.probe();
    const intervalMs = probeIntervalMs * (1 + random.next() * backoffJitterFactor);
    const before = history;
    history = enterAttempt(history, { ...begun, endedAt: clock.monotonic(), result, intervalMs }, settings);
    report.externalProbeAttempted(namespace, { result, before, history });
    tell(before.state !== history.state && history.state === 'unreachable');
    schedule();
  };

  const ask = async (): Promise<AttemptResult> => {
    if (!deps.kubeconfigs.synced) {
      return { kind: 'unusable', problem: 'the Secrets with its kubeconfig are not known yet' };
    }
    try {
      const connection = connectShoot(deps, `${namespace}/${kubeConfigSecretName}`);
      if (!connection.ok) return resultOfError(connection.error);
      try {
        await connection.value.client.call(getVersion, { signal: stopping.signal, timeoutMs });
        return { kind: 'answered' };
      } finally {
        connection.value.close();
      }
    } catch (error) {
      if (error instanceof ApiError) return resultOfError(error);
      if (!stopping.signal.aborted) report.broke(namespace, error);
      return { kind: 'unusable', problem: 'unexpected error' };
    }
  };

  /** Makes what is known now known to the others. */
  const tell = (isNewlyBroken: boolean): void => {
    if (stopping.signal.aborted) return;
    registry.set(namespace, factsOf({ history, renewedSince }));
    report.externalProbeState(namespace, registry.faultIsOurs() ? 'unknown' : history.state);
    const before = seen;
    seen = view();
    if (isNewlyBroken || (seen.state === 'unreachable' && before.state !== 'unreachable')) onTurn(true);
    else if (before.state === 'reachable' && seen.state !== 'reachable') onTurn(false);
  };

  tell(false);
  schedule();
  return {
    view: () => (mode === 'observe' ? undefined : view()),
    runEnded: (startedAt, { verdict, nextRunAt: at, memory }) => {
      const isAnswered = verdict.kind !== 'failed';
      if (isAnswered) insideAnsweredAt = startedAt;
      renewedSince = isAnswered ? memory.renewedSince : undefined;
      nextRunAt = at;
      tell(false);
      schedule();
    },
    memory: () => ({ kubeConfigSecretName, history, insideAnsweredAt, renewedSince }),
    stop: () => {
      stopping.abort(new Error('the outside path is no longer tried'));
      cancel();
      registry.forget(namespace);
      report.externalProbeStopped(namespace);
    },
  };
};
