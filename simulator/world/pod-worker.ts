import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type JsonMap, type SimObject, asMap, formatTime, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { type BackOff, afterRestart, restartDelay } from './back-off.ts';
import { type ContainerView, containerOf, statusFrom, viewOf } from './pod-status.ts';

/** The program in a container, as far as its kubelet sees it. Both are asked anew whenever the worker is told to look. */
export interface Program {
  /** False: it exits if that lasts for `dependencyTimeoutMs`. */
  canRun(): boolean;
  /** What its readiness probe finds; a program without one of its own is taken to have this one. */
  works(): boolean;
}

/** A kubelet's care of one pod. */
export interface PodWorker {
  /** Something its program depends on has changed. */
  look(): void;
  /** The pod is being deleted: its container ends, within the grace period at the latest, then the pod goes. */
  terminate(graceMs: number): void;
  stop(): void;
}

export interface PodWorkerInit {
  readonly pod: SimObject;
  readonly program: Program;
  readonly ip: string;
}

const created: ContainerView = {
  state: { waiting: { reason: 'ContainerCreating' } },
  lastState: {},
  ready: false,
  restartCount: 0,
};

const crashLoop = (pod: SimObject, delayMs: number): JsonMap => {
  const { name, namespace = '', uid } = pod.metadata;
  const container = String(containerOf(pod).name);
  const backOff = formatGoDuration(delayMs);
  const message = `back-off ${backOff} restarting failed container=${container} pod=${name}_${namespace}(${uid})`;
  return { reason: 'CrashLoopBackOff', message };
};

/**
 * Starts a pod's container, probes it, and starts it anew when it has exited, ever more slowly: `CrashLoopBackOff`. What it remembers
 * of that belongs to the pod, so that a new pod starts at once, even one of the same name. A pod that runs already is taken as it is.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kuberuntime/kuberuntime_manager.go
 */
export const startPodWorker = ({ clock, random, timing, store }: ActorDeps, init: PodWorkerInit): PodWorker => {
  const { pod, program, ip } = init;
  const limits = { firstMs: timing.crashBackOffMs, longestMs: timing.longestCrashBackOffMs };
  let view = viewOf(pod) ?? created;
  let backOff: BackOff | undefined;
  let isTerminating = false;
  /** Of the container's next start or probe, or of the pod's end. */
  let cancelNext = (): void => undefined;
  let cancelExit: (() => void) | undefined;

  const after = (ms: number, step: () => void): void => {
    cancelNext();
    cancelNext = clock.timer(ms, step);
  };

  const post = (change: Partial<ContainerView>): void => {
    view = { ...view, ...change };
    const time = formatTime(clock.now());
    store.patch(simKinds.Pod, pod.metadata, (now) => ({ ...now, status: statusFrom(now, { view, time, ip }) }));
  };

  const isRunning = (): boolean => view.state.running !== undefined;

  const probe = (): void => {
    if (program.works()) post({ ready: true });
    else after(timing.probePeriodMs, probe);
  };

  const start = (): void => {
    post({ state: { running: { startedAt: formatTime(clock.now()) } }, ready: false });
    after(timing.readinessDelayMs, probe);
    look();
  };

  const exit = (): void => {
    cancelExit = undefined;
    const endedAt = clock.now();
    const { startedAt } = asMap(view.state.running);
    const terminated: JsonMap = { exitCode: 1, reason: 'Error', startedAt, finishedAt: formatTime(endedAt) };
    const delayMs = restartDelay(backOff, endedAt, limits);
    if (delayMs === 0) post({ state: { terminated }, ready: false });
    else post({ state: { waiting: crashLoop(pod, delayMs) }, lastState: { terminated }, ready: false });
    after(delayMs, () => {
      backOff = afterRestart(backOff, { endedAt, restartedAt: clock.now() }, limits);
      view = { ...view, lastState: { terminated }, restartCount: view.restartCount + 1 };
      start();
    });
  };

  const look = (): void => {
    if (!isRunning() || isTerminating) return;
    if (!program.canRun()) {
      cancelExit ??= clock.timer(timing.dependencyTimeoutMs * (0.8 + 0.4 * random.next()), exit);
      return;
    }
    cancelExit?.();
    cancelExit = undefined;
    if (!view.ready || program.works()) return;
    post({ ready: false });
    after(timing.probePeriodMs, probe);
  };

  const remove = (): void => {
    store.delete(simKinds.Pod, pod.metadata, { gracePeriodSeconds: 0 });
  };

  const stop = (): void => {
    cancelNext();
    cancelExit?.();
  };

  if (isRunning()) {
    if (!view.ready) after(timing.readinessDelayMs, probe);
    look();
  } else after(timing.podStartMs * (0.8 + 0.4 * random.next()), start);
  return {
    look,
    terminate: (graceMs) => {
      if (isTerminating) return;
      isTerminating = true;
      stop();
      after(Math.min(timing.podEndMs, graceMs), remove);
    },
    stop,
  };
};
