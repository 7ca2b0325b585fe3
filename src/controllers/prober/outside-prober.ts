import { ApiError, getVersion, type OutsidePathSettings } from '../../domain/index.ts';
import type { Clock, Random, ShootConnector, Store } from '../../ports/index.ts';
import { connectShoot } from './connect.ts';
import type { PathFacts, PathRegistry } from './outside-majority.ts';
import {
  type OutsidePath,
  type TryResult,
  nextTryOf,
  resultOfError,
  takeTry,
  untriedPath,
  viewPath,
} from './outside-path.ts';
import type { OutsideReport } from './report-outside.ts';
import type { Decision, OutsideView, ProbeSettings } from './verdict.ts';

/** What all outside paths of a seed have in common. */
export interface OutsideSource {
  readonly settings: OutsidePathSettings;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
  readonly paths: PathRegistry;
}

export interface OutsideDeps extends OutsideSource {
  readonly clock: Clock;
  readonly random: Random;
  readonly connector: ShootConnector;
  readonly report: OutsideReport;
}

/** What the outside prober of the same shoot goes on with after a change of the configuration. */
export interface OutsideMemory {
  readonly kubeConfigSecretName: string;
  readonly path: OutsidePath;
  readonly insideAnsweredAt?: number | undefined;
  readonly renewedSince?: number | undefined;
}

export const factsOf = ({ path, renewedSince }: Pick<OutsideMemory, 'path' | 'renewedSince'>): PathFacts => ({
  state: path.state,
  failingSince: path.failingSince,
  renewedSince,
});

export interface OutsideStart {
  readonly namespace: string;
  readonly firstTryAt: number;
  /** Memory of the prober before, if any; another Secret is another path, of which nothing is known. */
  readonly before: OutsideMemory | undefined;
  readonly probe: () => ProbeSettings;
  /** Called when the path has turned so that the verdict may: it is no longer whole, or, with `broken`, broken for certain. */
  readonly onTurn: (broken: boolean) => void;
}

/** Tries the outside path of one shoot on a schedule of its own, each time over a new connection. */
export interface OutsideProber {
  /** As it counts in a verdict now; undefined where it is only observed. */
  view(): OutsideView | undefined;
  /** A run has ended that began at `startedAt`. */
  runEnded(startedAt: number, decision: Decision): void;
  memory(): OutsideMemory;
  stop(): void;
}

export const startOutsideProber = (deps: OutsideDeps, start: OutsideStart): OutsideProber => {
  const { clock, random, paths, report, settings } = deps;
  const { namespace, onTurn } = start;
  const { kubeConfigSecretName, timeoutMs, mode } = settings;
  const stopping = new AbortController();
  const known = start.before?.kubeConfigSecretName === kubeConfigSecretName ? start.before : undefined;
  let path = known?.path ?? untriedPath(start.firstTryAt);
  let insideAnsweredAt = known?.insideAnsweredAt;
  let renewedSince = known?.renewedSince;
  let nextRunAt: number | undefined;
  let underWay = false;
  let cancel: () => void = () => undefined;

  const view = (): OutsideView => {
    const { limitMs } = start.probe();
    if (paths.faultIsOurs()) return { mode, state: 'unknown' };
    return viewPath(path, { mode, limitMs, now: clock.monotonic() });
  };
  let seen = view();

  const schedule = (): void => {
    cancel();
    if (underWay || stopping.signal.aborted) return;
    const { limitMs } = start.probe();
    const at = nextTryOf(path, { mode, timeoutMs, limitMs, insideAnsweredAt, nextRunAt });
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
    const before = path;
    path = takeTry(path, { ...begun, endedAt: clock.monotonic(), result, intervalMs }, settings);
    report.pathTried(namespace, { result, before, path });
    tell(before.state !== path.state && path.state === 'broken');
    schedule();
  };

  const ask = async (): Promise<TryResult> => {
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
    paths.set(namespace, factsOf({ path, renewedSince }));
    report.pathState(namespace, paths.faultIsOurs() ? 'unknown' : path.state);
    const before = seen;
    seen = view();
    if (isNewlyBroken || (seen.state === 'broken' && before.state !== 'broken')) onTurn(true);
    else if (before.state === 'whole' && seen.state !== 'whole') onTurn(false);
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
    memory: () => ({ kubeConfigSecretName, path, insideAnsweredAt, renewedSince }),
    stop: () => {
      stopping.abort(new Error('the outside path is no longer tried'));
      cancel();
      paths.forget(namespace);
      report.pathGone(namespace);
    },
  };
};
