import type { ApiError } from '../kubernetes/api/errors.ts';
import type { PodView } from '../kubernetes/api/pod.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventRecorder } from '../telemetry/index.ts';
import type { LeftAloneReason } from './judge/decide.ts';
import type { Weeding, WeedingEnd } from './judge/weedings.ts';
import { type WeederMetrics, createWeederMetrics } from './metrics.ts';

/** The pod of a report, with its weeding. */
export interface PodReport {
  readonly pod: PodView;
  /** The weeding that matches the pod; if several do, the one whose service became ready last. */
  readonly weeding: Weeding;
  readonly now: number;
}

export interface WeederReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
  readonly events: EventRecorder;
  /** True if nothing is written: the report then shows what the weeder would have done. */
  readonly dryRun: boolean;
}

const leftAloneTexts: Readonly<Record<LeftAloneReason, string>> = {
  'no-controller': 'no controller owns the pod, so nobody would bring it back',
  'mirror-pod': 'the pod mirrors a static pod, which only its kubelet can restart',
  'pod-of-job': 'the Job of the pod would count its deletion as a failure',
};

const seconds = (ms: number): number => Math.round(ms) / 1_000;

const fieldsOf = ({ pod, weeding }: PodReport): LogFields => ({
  namespace: pod.namespace,
  pod: pod.name,
  containers: pod.crashLooping,
  service: weeding.service,
});

/** The only part of the weeder that logs, counts and records Events. It declares the metrics, so create one per meter. */
export class WeederReport {
  readonly #deps: WeederReportDeps;
  readonly #metrics: WeederMetrics;
  readonly #running = new Set<Weeding>();
  /** Deleted pods by weeding: a response may arrive after its end, and must not count for the next weeding of the service. */
  readonly #deleted = new WeakMap<Weeding, number>();
  /** Error codes that were already logged as errors. */
  readonly #loggedCodes = new WeakMap<Weeding, Set<string>>();

  constructor(deps: WeederReportDeps) {
    this.#deps = deps;
    this.#metrics = createWeederMetrics(deps.meter);
  }

  weedingStarted(weeding: Weeding, now: number): void {
    const { namespace, service, endsAt } = weeding;
    this.#metrics.started.inc({ service });
    this.#running.add(weeding);
    this.#countRunning(weeding);
    const fields = { namespace, service, seconds: seconds(endsAt - now) };
    this.#deps.logger.info('weeding starts: the service is ready', fields);
  }

  weedingEnded({ weeding, why, now }: WeedingEnd & { readonly now: number }): void {
    const { namespace, service } = weeding;
    this.#running.delete(weeding);
    this.#countRunning(weeding);
    const deleted = this.#deleted.get(weeding) ?? 0;
    const fields = { namespace, service, why, deleted, seconds: seconds(now - weeding.readyAt) };
    this.#deps.logger.info('weeding ends', fields);
  }

  /** Reports the end of all weedings, because the program stops. */
  stopped(now: number): void {
    for (const weeding of [...this.#running]) this.weedingEnded({ weeding, why: 'stopped', now });
  }

  podDeleted(about: PodReport): void {
    const { weeding, now } = about;
    const { service } = weeding;
    const { dryRun, logger } = this.#deps;
    const secondsAfterReady = seconds(now - weeding.readyAt);
    logger.info(`${dryRun ? 'would have ' : ''}deleted a crash-looping pod`, {
      ...fieldsOf(about),
      secondsAfterReady,
    });
    this.#deleted.set(weeding, (this.#deleted.get(weeding) ?? 0) + 1);
    this.#metrics.deleted.inc({ service });
    this.#metrics.deleteSeconds.observe(secondsAfterReady);
    if (!dryRun) this.#recordEvent(about);
  }

  /** Reports a pod that was gone, or has changed since the watch showed it. */
  podSkipped(about: PodReport & { readonly why: 'gone' | 'changed' }): void {
    const why = about.why === 'gone' ? 'is gone' : 'has changed';
    this.#deps.logger.debug(`not deleted: the pod ${why}`, fieldsOf(about));
  }

  deleteFailed(about: PodReport & { readonly error: ApiError }): void {
    const { weeding, error } = about;
    this.#metrics.errors.inc({ service: weeding.service, code: error.code });
    const codes = this.#loggedCodes.get(weeding) ?? new Set<string>();
    const level = codes.has(error.code) ? 'debug' : 'error';
    this.#loggedCodes.set(weeding, codes.add(error.code));
    this.#deps.logger[level]('deleting failed, trying again', { ...fieldsOf(about), error: error.message });
  }

  /** Reports a crash-looping pod that must not be deleted. */
  podLeftAlone(about: PodReport & { readonly why: LeftAloneReason }): void {
    this.#deps.logger.info(`left alone: ${leftAloneTexts[about.why]}`, fieldsOf(about));
  }

  /** Reports an exception that no code handles. */
  unexpectedError(namespace: string, error: unknown): void {
    this.#metrics.bugs.inc();
    this.#deps.logger.error('unexpected error: this is a bug', { namespace, error });
  }

  #countRunning({ service }: Weeding): void {
    const count = [...this.#running].filter((weeding) => weeding.service === service).length;
    this.#metrics.running.set(count, { service });
  }

  #recordEvent({ pod, weeding, now }: PodReport): void {
    const { namespace, name, uid, crashLooping } = pod;
    const containers = `container${crashLooping.length === 1 ? '' : 's'} ${crashLooping.join(', ')}`;
    const since = `${String(seconds(Math.round((now - weeding.readyAt) / 100) * 100))} s ago`;
    this.#deps.events.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Normal',
      reason: 'DependencyReady',
      message: `Deleted so that it starts anew at once: ${containers} in CrashLoopBackOff, and service ${weeding.service} became ready ${since}`,
    });
  }
}
