import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type JsonMap, type SimObject, asMap, formatTime, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { type ContainerView, containerOf, statusFrom, viewOf } from './pod-status.ts';

/** A container that ran longer than this many times the longest delay counts as stable (`hasExpired` in client-go `util/flowcontrol/backoff.go`). */
const stableAfter = 2;

/** The program in a container as its kubelet sees it. Both functions are called again on every `look` of the worker. */
export interface ContainerProgram {
  /** True if the program can run. It exits if this stays false for `dependencyTimeoutMs`. */
  canRun(): boolean;
  /** Result of the readiness probe, which every simulated program has. */
  works(): boolean;
}

interface PodWorkerInit {
  readonly pod: SimObject;
  readonly program: ContainerProgram;
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
 * The part of a kubelet that runs one pod: it starts the container, probes it, and restarts it after it exits, with increasing delays:
 * `CrashLoopBackOff`. The back-off belongs to the pod, so that a new pod starts at once, even one of the same name. A pod that is running
 * already keeps its state.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kuberuntime/kuberuntime_manager.go
 */
class PodWorker {
  readonly #deps: ActorDeps;
  readonly #init: PodWorkerInit;
  #view: ContainerView;
  /** Delay of the next restart in milliseconds, counted from the end of the container. */
  #backOffMs = 0;
  /** Time of the last restart, milliseconds since the epoch. */
  #restartedAt = 0;
  #isTerminating = false;
  /** Cancels the container's next start or probe, or the pod's end. */
  #cancelNext = (): void => undefined;
  #cancelExit: (() => void) | undefined;

  constructor(deps: ActorDeps, init: PodWorkerInit) {
    const { timing, random } = deps;
    this.#deps = deps;
    this.#init = init;
    this.#view = viewOf(init.pod) ?? created;
    if (!this.#isRunning()) {
      this.#after(timing.podStartMs * (0.8 + 0.4 * random.next()), () => this.#start());
      return;
    }
    if (!this.#view.ready) this.#after(timing.readinessDelayMs, () => this.#probe());
    this.reconcile();
  }

  /** Must be called when a dependency of the program has changed. */
  reconcile(): void {
    if (!this.#isRunning() || this.#isTerminating) return;
    const { clock, random, timing } = this.#deps;
    const { program } = this.#init;
    if (!program.canRun()) {
      this.#cancelExit ??= clock.timer(timing.dependencyTimeoutMs * (0.8 + 0.4 * random.next()), () => this.#exit());
      return;
    }
    this.#cancelExit?.();
    this.#cancelExit = undefined;
    if (!this.#view.ready || program.works()) return;
    this.#post({ ready: false });
    this.#after(timing.probePeriodMs, () => this.#probe());
  }

  /** Ends the container of a deleted pod, at the latest after the grace period, and then removes the pod. */
  terminate(graceMs: number): void {
    if (this.#isTerminating) return;
    this.#isTerminating = true;
    this.stop();
    const { store, timing } = this.#deps;
    this.#after(Math.min(timing.podEndMs, graceMs), () => {
      store.delete(simKinds.Pod, this.#init.pod.metadata, { gracePeriodSeconds: 0 });
    });
  }

  stop(): void {
    this.#cancelNext();
    this.#cancelExit?.();
  }

  #isRunning(): boolean {
    return this.#view.state.running !== undefined;
  }

  #after(ms: number, step: () => void): void {
    this.#cancelNext();
    this.#cancelNext = this.#deps.clock.timer(ms, step);
  }

  #post(change: Partial<ContainerView>): void {
    const { clock, store } = this.#deps;
    const { pod, ip } = this.#init;
    const view = { ...this.#view, ...change };
    this.#view = view;
    const time = formatTime(clock.now());
    store.patch(simKinds.Pod, pod.metadata, (now) => ({ ...now, status: statusFrom(now, { view, time, ip }) }));
  }

  #probe(): void {
    if (this.#init.program.works()) this.#post({ ready: true });
    else this.#after(this.#deps.timing.probePeriodMs, () => this.#probe());
  }

  #start(): void {
    const { clock, timing } = this.#deps;
    this.#post({ state: { running: { startedAt: formatTime(clock.now()) } }, ready: false });
    this.#after(timing.readinessDelayMs, () => this.#probe());
    this.reconcile();
  }

  /**
   * Returns the delay of the restart of a container that ended at `endedAt`: 0 the first time and after a stable run; then it doubles each time
   * (`doBackOff` in kuberuntime_manager.go).
   */
  #takeDelay(endedAt: number): number {
    const { crashBackOffMs, longestCrashBackOffMs } = this.#deps.timing;
    const isStable = endedAt - this.#restartedAt > stableAfter * longestCrashBackOffMs;
    const delayMs = isStable ? 0 : this.#backOffMs;
    this.#backOffMs = delayMs === 0 ? crashBackOffMs : Math.min(2 * delayMs, longestCrashBackOffMs);
    return delayMs;
  }

  #exit(): void {
    this.#cancelExit = undefined;
    const { clock } = this.#deps;
    const endedAt = clock.now();
    const { startedAt } = asMap(this.#view.state.running);
    const terminated: JsonMap = { exitCode: 1, reason: 'Error', startedAt, finishedAt: formatTime(endedAt) };
    const delayMs = this.#takeDelay(endedAt);
    if (delayMs === 0) this.#post({ state: { terminated }, ready: false });
    else {
      const waiting = crashLoop(this.#init.pod, delayMs);
      this.#post({ state: { waiting }, lastState: { terminated }, ready: false });
    }
    this.#after(delayMs, () => {
      this.#restartedAt = clock.now();
      this.#view = { ...this.#view, lastState: { terminated }, restartCount: this.#view.restartCount + 1 };
      this.#start();
    });
  }
}

interface PodKubeletInit {
  readonly namespace: string;
  readonly programOf: (pod: SimObject) => ContainerProgram;
}

const ipOf = (index: number): string => `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;

/** Starts the kubelets of the seed's nodes, for the pods of one namespace. */
export const startPodKubelet = (deps: ActorDeps, { namespace, programOf }: PodKubeletInit) => {
  const { store } = deps;
  const workers = new Map<string, PodWorker>();
  let pods = 0;

  const care = (pod: SimObject): void => {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    let worker = workers.get(uid);
    if (worker === undefined) {
      worker = new PodWorker(deps, { pod, program: programOf(pod), ip: ipOf(pods) });
      workers.set(uid, worker);
      pods += 1;
    }
    if (deletionTimestamp !== undefined) worker.terminate(deletionGracePeriodSeconds * 1000);
  };

  const forget = ({ metadata: { uid } }: SimObject): void => {
    workers.get(uid)?.stop();
    workers.delete(uid);
  };

  const unsubscribe = store.subscribe(
    simKinds.Pod,
    ({ type, object }) => (type === 'DELETED' ? forget(object) : care(object)),
    namespace,
  );
  for (const pod of store.list(simKinds.Pod, namespace)) care(pod);
  return {
    /** Must be called when a dependency of the programs has changed. */
    reconcile: (): void => {
      for (const worker of workers.values()) worker.reconcile();
    },
    stop: (): void => {
      unsubscribe();
      for (const worker of workers.values()) worker.stop();
    },
  };
};
