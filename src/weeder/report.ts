import { ApiError } from '../kubernetes/api/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventRecorder } from '../telemetry/index.ts';
import type { DeleteOutcome, DependentPod, Weeding, WeederEvent } from './events.ts';
import { seldom } from './seldom.ts';

export interface WeederReportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly events: EventRecorder;
  /** True if nothing is written: the report then shows what the weeder would have done. */
  readonly dryRun: boolean;
}

/** What the report remembers of a weeding. A response may arrive after its end, and must not count for the next weeding of the service. */
interface Tally {
  deleted: number;
  /** UIDs of pods that were logged as left alone. */
  readonly leftAlone: Set<string>;
}

const seconds = (ms: number): number => Math.round(ms) / 1_000;

const fieldsOf = ({ pod, weeding }: DependentPod): LogFields => ({
  namespace: pod.namespace,
  pod: pod.name,
  containers: pod.crashLooping,
  service: weeding.service,
});

const perService = ['service'] as const;

const createMetrics = (meter: Meter) => ({
  started: meter.counter({
    name: 'dwd_weeder_weedings_started_total',
    help: 'Weedings started, by the service that became ready.',
    labels: perService,
  }),
  running: meter.gauge({
    name: 'dwd_weeder_weedings',
    help: 'Weedings in progress, by the service that became ready.',
    labels: perService,
  }),
  deleted: meter.counter({
    name: 'dwd_weeder_pods_deleted_total',
    help: 'Crash-looping pods deleted, by the service that became ready.',
    labels: perService,
  }),
  errors: meter.counter({
    name: 'dwd_weeder_delete_errors_total',
    help: 'Failed deletes of pods, by error code; each is retried while the weeding lasts.',
    labels: [...perService, 'code'],
  }),
  deleteSeconds: meter.histogram({
    name: 'dwd_weeder_ready_to_delete_seconds',
    help: 'Time from when a service was seen ready to the delete of a pod that depends on it.',
    buckets: [0.1, 0.3, 1, 2, 3, 5, 10, 30, 100, 300],
  }),
  bugs: meter.counter({
    name: 'dwd_weeder_unexpected_errors_total',
    help: 'Unexpected exceptions; each is a bug.',
  }),
});

/** The only part of the weeder that logs, counts and records Events. It declares the metrics, so create one per meter. */
export class WeederReport {
  readonly #deps: WeederReportDeps;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #running = new Set<Weeding>();
  readonly #tallies = new WeakMap<Weeding, Tally>();
  readonly #isDue: (code: string) => boolean;

  constructor(deps: WeederReportDeps) {
    this.#deps = deps;
    this.#metrics = createMetrics(deps.meter);
    this.#isDue = seldom(deps.clock);
  }

  on(event: WeederEvent): void {
    switch (event.type) {
      case 'weeding-started':
        this.#weedingStarted(event.weeding);
        break;
      case 'weeding-ended':
        this.#weedingEnded(event.weeding, event.why);
        break;
      case 'delete-ended':
        this.#deleteEnded(event, event.outcome);
        break;
      case 'left-alone':
        this.#leftAlone(event, event.why);
        break;
      case 'unexpected-error':
        this.#unexpectedError(event.namespace, event.error);
        break;
    }
  }

  /** Reports the end of all weedings, because the program stops. */
  stopped(): void {
    for (const weeding of [...this.#running]) this.#weedingEnded(weeding, 'stopped');
  }

  #weedingStarted(weeding: Weeding): void {
    const { namespace, service, readyAt, endsAt } = weeding;
    this.#metrics.started.inc({ service });
    this.#running.add(weeding);
    this.#countRunning(service);
    const fields = { namespace, service, seconds: seconds(endsAt - readyAt) };
    this.#deps.logger.info('weeding starts: the service is ready', fields);
  }

  #weedingEnded(weeding: Weeding, why: string): void {
    const { namespace, service } = weeding;
    this.#running.delete(weeding);
    this.#countRunning(service);
    const { deleted } = this.#tallyOf(weeding);
    const fields = { namespace, service, why, deleted, seconds: this.#secondsAfterReady(weeding) };
    this.#deps.logger.info('weeding ends', fields);
  }

  #leftAlone(about: DependentPod, why: string): void {
    const { leftAlone } = this.#tallyOf(about.weeding);
    if (leftAlone.has(about.pod.uid)) return;
    leftAlone.add(about.pod.uid);
    this.#deps.logger.info(`left alone: ${why}`, fieldsOf(about));
  }

  #deleteEnded(about: DependentPod, outcome: DeleteOutcome): void {
    switch (outcome.kind) {
      case 'deleted':
        this.#deleted(about);
        break;
      case 'gone':
        this.#deps.logger.debug('not deleted: the pod is gone', fieldsOf(about));
        break;
      case 'changed':
        this.#deps.logger.debug('not deleted: the pod has changed', fieldsOf(about));
        break;
      case 'unsent':
        break;
      case 'failed':
        if (outcome.error instanceof ApiError) this.#deleteFailed(about, outcome.error);
        else this.#unexpectedError(about.pod.namespace, outcome.error);
        break;
    }
  }

  #deleted(about: DependentPod): void {
    const { pod, weeding } = about;
    const { dryRun, logger, events } = this.#deps;
    const { service } = weeding;
    const secondsAfterReady = this.#secondsAfterReady(weeding);
    const message = `${dryRun ? 'would have ' : ''}deleted a crash-looping pod`;
    logger.info(message, { ...fieldsOf(about), secondsAfterReady });
    this.#tallyOf(weeding).deleted += 1;
    this.#metrics.deleted.inc({ service });
    this.#metrics.deleteSeconds.observe(secondsAfterReady);
    if (dryRun) return;
    const { namespace, name, uid, crashLooping } = pod;
    const containers = `container${crashLooping.length === 1 ? '' : 's'} ${crashLooping.join(', ')}`;
    const since = `${String(Math.round(secondsAfterReady * 10) / 10)} s ago`;
    events.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Normal',
      reason: 'DependencyReady',
      message: `Deleted so that it starts anew at once: ${containers} in CrashLoopBackOff, and service ${service} was first seen ready ${since}`,
    });
  }

  #deleteFailed(about: DependentPod, { code, message }: ApiError): void {
    this.#metrics.errors.inc({ service: about.weeding.service, code });
    const level = this.#isDue(code) ? 'error' : 'debug';
    this.#deps.logger[level]('deleting failed, trying again', { ...fieldsOf(about), error: message });
  }

  #unexpectedError(namespace: string, error: unknown): void {
    this.#metrics.bugs.inc();
    this.#deps.logger.error('unexpected error: this is a bug', { namespace, error });
  }

  #countRunning(service: string): void {
    const count = [...this.#running].filter((weeding) => weeding.service === service).length;
    this.#metrics.running.set(count, { service });
  }

  #secondsAfterReady({ readyAt }: Weeding): number {
    return seconds(this.#deps.clock.monotonic() - readyAt);
  }

  #tallyOf(weeding: Weeding): Tally {
    const tally = this.#tallies.get(weeding) ?? { deleted: 0, leftAlone: new Set() };
    this.#tallies.set(weeding, tally);
    return tally;
  }
}
