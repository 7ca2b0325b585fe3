import type { ApiError, PodView } from '../../domain/index.ts';
import type { EventRecorder, Logger, Meter } from '../../ports/index.ts';
import { createWeederMetrics } from './metrics.ts';
import type { Weeding, WeedingEnd } from './weedings.ts';

/** The only stage that logs, counts and records Events. */
export interface WeederReport {
  weedingStarted(weeding: Weeding, now: number): void;
  weedingEnded(ended: { readonly weeding: Weeding; readonly why: WeedingEnd; readonly now: number }): void;
  /** The program is stopping: whatever runs has ended. */
  stopped(now: number): void;
  podDeleted(about: PodReport): void;
  /** The pod was gone, or has changed since it was seen. */
  podSpared(about: PodReport & { readonly why: 'gone' | 'changed' }): void;
  deleteFailed(about: PodReport & { readonly error: ApiError }): void;
  /** A crash-looping pod without a controller owner. */
  podLeftAlone(about: PodReport): void;
  /** An exception nobody foresaw. */
  broke(namespace: string, error: unknown): void;
}

export interface PodReport {
  readonly pod: PodView;
  /** The weeding in whose name the pod is looked at: of those that match it, the one whose service became ready last. */
  readonly weeding: Weeding;
  readonly now: number;
}

export interface ReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
  readonly events: EventRecorder;
  /** Nothing is written; what would be is told. */
  readonly dryRun: boolean;
}

const seconds = (ms: number): number => Math.round(ms) / 1_000;

/** To be called once per meter: it declares the weeder's metrics. */
export const createWeederReport = ({ logger, meter, events, dryRun }: ReportDeps): WeederReport => {
  const metrics = createWeederMetrics(meter);
  const running = new Set<Weeding>();
  /** What is answered after the end of a weeding must not count for the next one of its service. */
  const deleted = new WeakMap<Weeding, number>();
  /** Error codes that were told. */
  const told = new WeakMap<Weeding, Set<string>>();
  const would = dryRun ? 'would have ' : '';

  const count = ({ service }: Weeding): void => {
    const ofService = [...running].filter((weeding) => weeding.service === service);
    metrics.running.set(ofService.length, { service });
  };

  const fieldsOf = ({ pod, weeding }: PodReport) => ({
    namespace: pod.namespace,
    pod: pod.name,
    containers: pod.crashLooping,
    service: weeding.service,
  });

  const recordEvent = ({ pod, weeding, now }: PodReport): void => {
    const { namespace, name, uid, crashLooping } = pod;
    const containers = `container${crashLooping.length === 1 ? '' : 's'} ${crashLooping.join(', ')}`;
    const since = `${String(seconds(Math.round((now - weeding.readyAt) / 100) * 100))} s ago`;
    events.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Normal',
      reason: 'DependencyReady',
      message: `Deleted so that it starts anew at once: ${containers} in CrashLoopBackOff, and service ${weeding.service} became ready ${since}`,
    });
  };

  const weedingEnded: WeederReport['weedingEnded'] = ({ weeding, why, now }) => {
    const { namespace, service } = weeding;
    running.delete(weeding);
    count(weeding);
    const lasted = seconds(now - weeding.readyAt);
    logger.info('weeding ends', { namespace, service, why, deleted: deleted.get(weeding) ?? 0, seconds: lasted });
  };

  return {
    weedingStarted: (weeding, now) => {
      const { namespace, service } = weeding;
      metrics.started.inc({ service });
      running.add(weeding);
      count(weeding);
      logger.info('weeding starts: the service is ready', {
        namespace,
        service,
        seconds: seconds(weeding.endsAt - now),
      });
    },
    weedingEnded,
    stopped: (now) => {
      for (const weeding of [...running]) weedingEnded({ weeding, why: 'stopped', now });
    },
    podDeleted: (about) => {
      const { weeding, now } = about;
      const { service } = weeding;
      const afterReady = seconds(now - weeding.readyAt);
      logger.info(`${would}deleted a crash-looping pod`, { ...fieldsOf(about), secondsAfterReady: afterReady });
      deleted.set(weeding, (deleted.get(weeding) ?? 0) + 1);
      metrics.deleted.inc({ service });
      metrics.deleteSeconds.observe(afterReady);
      if (!dryRun) recordEvent(about);
    },
    podSpared: (about) =>
      logger.debug(`not deleted: the pod ${about.why === 'gone' ? 'is gone' : 'has changed'}`, fieldsOf(about)),
    deleteFailed: (about) => {
      const { weeding, error } = about;
      metrics.errors.inc({ service: weeding.service, code: error.code });
      const codes = told.get(weeding) ?? new Set<string>();
      const level = codes.has(error.code) ? 'debug' : 'error';
      told.set(weeding, codes.add(error.code));
      logger[level]('deleting failed, trying again', { ...fieldsOf(about), error: error.message });
    },
    podLeftAlone: (about) =>
      logger.info('left alone: no controller owns the pod, so nobody would bring it back', fieldsOf(about)),
    broke: (namespace, error) => {
      metrics.bugs.inc();
      logger.error('unexpected error: this is a bug', { namespace, error });
    },
  };
};
