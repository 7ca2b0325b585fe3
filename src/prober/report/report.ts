import { describePause } from '../../annotations/pause.ts';
import type { ApiError } from '../../kubernetes/api/errors.ts';
import { shorten } from '../../kubernetes/api/shorten.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogFields, Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import type { EventRecorder, RecordedEvent } from '../../telemetry/index.ts';
import { namespaceRef } from '../config/ref-template.ts';
import { type Verdict, verdictNameOf } from '../judge/judgement.ts';
import { maxAttempts } from '../scale/operation.ts';
import { type Emit, type EventOf, type Lack, observer } from './events.ts';
import { createMetrics } from './metrics.ts';
import { type EndedWrite, writeIn } from './sentences.ts';

export interface ReportDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly events: EventRecorder;
  /** True if nothing is written. Would-be writes are logged then, and no Event is recorded. */
  readonly dryRun: boolean;
  /** True if this process leads. A standby records only Events about its own writes, and leaves the rest to the leader. */
  readonly leads: () => boolean;
  /** Returns the name of the seed, with which each Event begins: Events are read where those of many seeds come together. */
  readonly seed?: () => string | undefined;
}

const warnSkewMs = 5_000;
/** Maximum number of shoots in one line of the log. */
const mostNamed = 20;
const wayOut = 'a prober must come back, or restore them with dwd release --shoot NAMESPACE when the outage is over';

/** Returns the kind of a verdict or of a failure. Messages differ from run to run (a timeout includes its duration), but operators want to see the same failure once. */
const kindOf = (verdict: Verdict): string => {
  if (verdict.kind !== 'failed') return verdict.kind;
  const { failure, error } = verdict;
  return `${failure}/${'code' in error ? error.code : error.field}`;
};

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const fieldsOf = ({ write, reason }: EndedWrite): LogFields => {
  const { base, replicas: to, annotations = {} } = write;
  return { reason, ...(to === undefined ? { annotations } : { from: base.specReplicas, to }) };
};

/** What was told last about each cluster, by topic, so that only news is told. */
class Told {
  readonly #told = new Map<string, Map<string, string | true>>();

  /** True if the value differs from the latest of this topic. undefined: there is nothing to tell. */
  isNews(cluster: string, topic: string, value: string | true | undefined): boolean {
    const topics = this.#told.get(cluster) ?? new Map<string, string | true>();
    const before = topics.get(topic);
    if (value === undefined) topics.delete(topic);
    else topics.set(topic, value);
    if (topics.size === 0) this.#told.delete(cluster);
    else this.#told.set(cluster, topics);
    return before !== value;
  }

  forget(cluster: string): void {
    this.#told.delete(cluster);
  }
}

/** Logs, counts and records Kubernetes Events: once for each change and each write. What is as before is logged for debugging. */
class Report {
  readonly #deps: ReportDeps;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #told = new Told();

  constructor(deps: ReportDeps) {
    this.#deps = deps;
    this.#metrics = createMetrics(deps.meter);
  }

  readonly observe: Emit = observer({
    configured: ({ probeIntervalMs }) => this.#metrics.interval.set(probeIntervalMs / 1_000),
    'probing-started': ({ cluster: namespace, delayMs }) =>
      this.#deps.logger.info('probing', { namespace, firstRunInMs: Math.round(delayMs) }),
    'probing-stopped': ({ cluster: namespace, reason, releasePolicy }) =>
      this.#deps.logger.info('no longer probing', { namespace, reason, releasePolicy }),
    'settings-changed': ({ cluster: namespace }) =>
      this.#deps.logger.info('settings of the shoot changed', { namespace }),
    'cluster-undecodable': ({ cluster: namespace, error: { message: error } }) => {
      this.#metrics.clusterErrors.inc({ namespace });
      this.#deps.logger.error('Cluster cannot be decoded: its prober is left as it is', { namespace, error });
    },
    'cluster-checked': (event) => this.#checked(event),
    'run-ended': (event) => this.#runEnded(event),
    'lack-changed': (event) => this.#lackChanged(event),
    'scaling-started': ({ cluster: namespace, scaling: { direction, scope, reason } }) =>
      this.#deps.logger.debug(`scaling ${direction} starts`, { namespace, scope, reason }),
    'response-received': (event) => this.#responded(event),
    'scaling-ended': (event) => this.#scalingEnded(event),
    'pause-changed': (event) => this.#pauseChanged(event),
    'external-probe-attempted': (event) => this.#externalProbe(event),
    'unexpected-error': ({ cluster: namespace, error }) => {
      this.#metrics.bugs.inc({ namespace });
      this.#deps.logger.error('unexpected error: this is a bug', { namespace, error });
    },
    forgotten: ({ cluster }) => {
      this.#told.forget(cluster);
      for (const metric of Object.values(this.#metrics)) metric.remove({ namespace: cluster });
    },
    ended: ({ held }) => this.#ended(held),
  });

  #record(event: RecordedEvent): void {
    const { events, seed, dryRun } = this.#deps;
    if (dryRun) return;
    const name = seed?.();
    events.record(name === undefined ? event : { ...event, message: `Seed ${name}: ${event.message}` });
  }

  /** Records what is not about one write, on the Namespace of the cluster. */
  #recordAsLeader(namespace: string, event: Omit<RecordedEvent, 'regarding'>): void {
    if (this.#deps.leads()) this.#record({ regarding: namespaceRef(namespace), ...event });
  }

  #checked({ cluster: namespace, problem }: EventOf<'cluster-checked'>): void {
    const { logger } = this.#deps;
    if (!this.#told.isNews(namespace, 'problem', problem)) return;
    if (problem === undefined) {
      logger.info('it is clear again which Secret is of the cluster', { namespace });
      return;
    }
    logger.error('it is not clear which Secret is of the cluster', { namespace, problem });
    const reason = 'MeltdownProtectionSecretAmbiguous';
    this.#recordAsLeader(namespace, { type: 'Warning', reason, message: problem });
  }

  #runEnded({ cluster: namespace, result, before }: EventOf<'run-ended'>): void {
    const { logger, leads } = this.#deps;
    const { decision, durationMs, skewMs } = result;
    const { verdict, reason, counts, memory } = decision;
    this.#metrics.runs.inc({ namespace, result: verdictNameOf(verdict) });
    this.#metrics.runSeconds.observe(durationMs / 1_000);
    if (counts !== undefined) {
      this.#metrics.candidates.set(counts.candidates, { namespace });
      this.#metrics.expired.set(counts.expired, { namespace });
    }
    if (memory.outage?.isFlapping === true && before.outage?.isFlapping !== true) {
      const message =
        'flapping: an outage came within ten minutes of the restoration, so the next one waits for longer';
      logger.warn(message, { namespace });
      this.#recordAsLeader(namespace, { type: 'Warning', reason: 'MeltdownProtectionFlapping', message });
    }
    if (skewMs !== undefined) this.#skewed(namespace, skewMs);
    const { excusedUntil } = memory;
    if (excusedUntil !== undefined && excusedUntil !== before.excusedUntil) {
      const seconds = Math.round((excusedUntil - (before.provedSince ?? excusedUntil)) / 1_000);
      logger.info('the API server failed until now: silence counts from here', { namespace, seconds });
    }
    const role = leads() ? {} : { standby: true };
    const fields = { namespace, verdict: verdictNameOf(verdict), reason, ...counts, ...role };
    if (!this.#told.isNews(namespace, 'verdict', kindOf(verdict))) logger.debug('probe run', fields);
    else if (verdict.kind === 'failed') logger.error('probe failed: it gives no verdict', fields);
    else logger.info('verdict', fields);
  }

  #skewed(namespace: string, skewMs: number): void {
    this.#metrics.skew.set(skewMs / 1_000, { namespace });
    const isSkewed = Math.abs(skewMs) > warnSkewMs;
    if (!this.#told.isNews(namespace, 'skew', isSkewed || undefined) || !isSkewed) return;
    const seconds = Math.round(skewMs / 1_000);
    this.#deps.logger.warn("the shoot API server's clock and ours differ", { namespace, seconds });
  }

  #lackChanged({ cluster: namespace, lack, former, why, do: what }: EventOf<'lack-changed'>): void {
    const { logger, seed, clock } = this.#deps;
    const where = { namespace, seed: seed?.() };
    if (lack === 'late') this.#metrics.late.set(clock.now() / 1_000, { namespace });
    if (lack !== undefined) {
      const { reason, message, level = 'warn' } = lacks[lack];
      logger[level](message, { ...where, why, do: what });
      const told = `${capitalize(message)}: ${why}.${what === '' ? '' : ` To do: ${what}.`}`;
      this.#recordAsLeader(namespace, { type: 'Warning', reason, message: told });
    } else if (former === 'blind' || former === 'unprotected') {
      const message = former === 'blind' ? 'no longer blind' : 'protected again';
      logger.info(`the shoot is ${message}`, { ...where, why });
      const told = `${capitalize(message)}: ${why}.`;
      this.#recordAsLeader(namespace, { type: 'Normal', reason: 'MeltdownProtectionBack', message: told });
    }
  }

  #responded(event: EventOf<'response-received'>): void {
    const { logger } = this.#deps;
    const { cluster: namespace, outcome } = event;
    const { key: resource, result } = outcome;
    const write = writeIn(event);
    if (!result.ok && result.error.rateLimited) {
      // The request is sent again every second. The result is logged when the scaling ends.
      logger.debug('held back', { namespace, resource, error: result.error.message });
    } else if (write?.error !== undefined) this.#writingFailed(event, write, write.error);
    else if (write !== undefined) this.#written(event, write);
    else if (!result.ok) logger.info('reading failed', { namespace, resource, error: result.error.message });
  }

  #writingFailed(event: EventOf<'response-received'>, write: EndedWrite, { code, message }: ApiError): void {
    const { logger } = this.#deps;
    const { cluster: namespace, scaling, outcome } = event;
    const fields = { namespace, resource: outcome.key, ...fieldsOf(write) };
    if (code === 'Rejected') {
      logger.info('not written', { ...fields, why: message });
      return;
    }
    // An operation that retries beyond its ordinary attempts has reported them.
    const isRetriedOn = scaling.operations.some(({ key, attempts }) => key === outcome.key && attempts >= maxAttempts);
    logger[isRetriedOn ? 'debug' : 'error']('writing failed', { ...fields, error: message });
  }

  /** Tells an accepted write; if it changes the count, in an Event on the resource, too. */
  #written(event: EventOf<'response-received'>, written: EndedWrite): void {
    const { logger, dryRun } = this.#deps;
    const { cluster: namespace, outcome, ref, uid, verdict, now } = event;
    const { write, act, effect, counts = '', reason, undone } = written;
    const resource = outcome.key;
    const would = dryRun ? 'would have ' : '';
    const fields = { namespace, resource, ...fieldsOf(written) };
    if (write.unreadable !== undefined) {
      const stored = shorten(write.unreadable);
      logger.error('the stored number of replicas cannot be read: restoring 1', { ...fields, stored });
    }
    if (effect === 'down') this.#tellWithoutLead(event);
    logger.info(`${would}${act}`, fields);
    const record = (recorded: Omit<RecordedEvent, 'regarding'>): void => {
      if (ref !== undefined) this.#record({ regarding: { namespace, ...ref, uid }, ...recorded });
    };
    if (undone !== undefined) {
      const { manager, message } = undone;
      const changed = { namespace, resource, manager, replicas: write.base.specReplicas, reason };
      logger.warn(`${would}undone another writer's change of replicas`, changed);
      if (!dryRun) this.#metrics.foreignChanges.inc({ namespace, resource, manager });
      record({ type: 'Warning', reason: 'MeltdownProtectionForeignChange', message });
    }
    if (effect === undefined) return;
    const message = `${capitalize(act)} ${counts}: ${reason}`;
    if (effect === 'up') {
      record({ type: 'Normal', reason: 'MeltdownProtectionScaledUp', message });
      return;
    }
    record({ type: 'Warning', reason: 'MeltdownProtectionScaledDown', message });
    // To undo another writer comes late, and says nothing of the scale-down.
    if (undone !== undefined || verdict?.kind !== 'unhealthy') return;
    this.#metrics.downSeconds.observe((now - verdict.crossedAt) / 1_000);
  }

  /** Tells once in a scaling that it scales down without the lead. */
  #tellWithoutLead({ cluster: namespace, scaling }: EventOf<'response-received'>): void {
    const { logger, dryRun } = this.#deps;
    const { withoutLead: why, reason, startedAt } = scaling;
    if (why === undefined || !this.#told.isNews(namespace, 'without lead', String(startedAt))) return;
    const message = `protecting without the lead: ${why}`;
    logger.warn(message, { namespace, reason });
    if (!dryRun) this.#metrics.withoutLead.inc({ namespace });
    const told = {
      type: 'Warning',
      reason: 'MeltdownProtectionWithoutLead',
      message: `${message}; ${reason}`,
    } as const;
    this.#record({ regarding: namespaceRef(namespace), ...told });
  }

  /** Logs a failure as an error again only when it changes, because every run tries again. */
  #scalingEnded({ cluster: namespace, scaling, now }: EventOf<'scaling-ended'>): void {
    const { logger } = this.#deps;
    const { direction, startedAt, operations, rest } = scaling;
    for (const { key: resource, phase, startedAt: since } of operations) {
      if (phase.kind !== 'done' && phase.kind !== 'failed') continue;
      const result = phase.kind === 'failed' ? 'failed' : phase.outcome;
      this.#metrics.operations.inc({ namespace, direction, result });
      if (result === 'scaled') this.#metrics.operationSeconds.observe((now - since) / 1_000, { direction });
      const error = phase.kind === 'failed' ? phase.error.message : undefined;
      const isNews = this.#told.isNews(namespace, `scaling ${resource}`, error && `${direction}: ${error}`);
      if (error === undefined) continue;
      logger[isNews ? 'error' : 'debug'](`scaling ${direction} failed`, { namespace, resource, error });
    }
    logger.debug(`scaling ${direction} ${rest?.end ?? 'dropped'}`, { namespace, seconds: (now - startedAt) / 1_000 });
  }

  #pauseChanged({ cluster, namespace, pause, isFound }: EventOf<'pause-changed'>): void {
    const { logger } = this.#deps;
    const fields = cluster === undefined ? {} : { namespace };
    if (pause === undefined) {
      const over = 'over: an outage is met again, but not on resources with ignore-scaling';
      logger.warn(`the pause is ${over}`, fields);
      const message = `The pause of meltdown protection is ${over}.`;
      this.#recordAsLeader(namespace, { type: 'Normal', reason: 'MeltdownProtectionResumed', message });
      return;
    }
    const { problem } = pause;
    if (problem !== undefined) logger.error('a pause cannot be read: it holds for an hour', { namespace, problem });
    const whose = cluster === undefined ? 'all shoots are' : 'the shoot is';
    logger.warn(`${whose} paused: nothing is scaled down`, { ...fields, pause: describePause(pause) });
    // The start of a pause that was found has been recorded by another process, or no process could.
    if (isFound) return;
    const message = `Meltdown protection is paused, ${whose} not scaled down ${describePause(pause)}`;
    this.#recordAsLeader(namespace, { type: 'Warning', reason: 'MeltdownProtectionPaused', message });
  }

  #externalProbe({ cluster: namespace, result, before, history }: EventOf<'external-probe-attempted'>): void {
    const { logger } = this.#deps;
    const { state, reason, failures } = history;
    this.#metrics.externalAttempts.inc({ namespace, result: result.kind });
    const fields = { namespace, state, reason };
    const isUnusable = result.kind === 'unusable';
    const isNews = before.state !== state || (isUnusable && before.reason !== reason);
    if (!isNews) logger.debug('external probe', { ...fields, result: result.kind, failures });
    else if (isUnusable) logger.warn('the external probe cannot be made', fields);
    else logger[state === 'unreachable' ? 'warn' : 'info']('external probe', fields);
  }

  /** Logs the resources that stay held when the prober stops. */
  #ended(held: ReadonlyMap<string, number>): void {
    const { logger, dryRun } = this.#deps;
    // In a dry run, another program holds the resources.
    if (dryRun || held.size === 0) return;
    const resources = [...held.values()].reduce((sum, count) => sum + count, 0);
    const those = `${resources} ${resources === 1 ? 'resource' : 'resources'} of ${held.size} ${held.size === 1 ? 'shoot' : 'shoots'}`;
    const namespaces = [...held.keys()].toSorted().slice(0, mostNamed);
    logger.warn(`stopping: ${those} stay held; ${wayOut}`, { resources, namespaces });
  }
}

/** What log and Event say of a lack. */
const lacks: Readonly<
  Record<Lack, { readonly reason: string; readonly message: string; readonly level?: 'warn' | 'error' }>
> = {
  blind: { reason: 'MeltdownProtectionBlind', message: 'blind: the last probes failed' },
  unprotected: { reason: 'MeltdownProtectionLacking', message: 'not protected: an outage would not be met' },
  'held back': { reason: 'MeltdownProtectionHeldBack', message: 'not scaled down: a pause holds' },
  late: {
    reason: 'MeltdownProtectionLate',
    message: 'the threshold is crossed, and nothing is scaled down',
    level: 'error',
  },
};

/** Returns the observer that tells people. Call it once per meter, because it declares the prober's metrics. */
export const reportEvents = (deps: ReportDeps): Emit => new Report(deps).observe;
