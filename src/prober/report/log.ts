import { describePause } from '../../annotations/pause.ts';
import { shorten } from '../../kubernetes/api/shorten.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Verdict, verdictNameOf } from '../judge/judgement.ts';
import { type Emit, type EventOf, observer } from './events.ts';
import { type EndedWrite, endedOperations, flappingIn, writeIn, Told } from './sentences.ts';

export interface ProberLogDeps {
  readonly logger: Logger;
  /** True if nothing is written. The log then shows would-be writes. */
  readonly dryRun: boolean;
  /** True if this process leads; false in a standby. */
  readonly leads: () => boolean;
  /** Returns the name of the seed. */
  readonly seed?: () => string | undefined;
}

const warnSkewMs = 5_000;
/** Maximum number of shoots in one line of the log. */
const mostNamed = 20;
const wayOut = 'a prober must come back, or restore them with dwd release --shoot NAMESPACE when the outage is over';

/** Returns the kind of a failure. Messages differ from run to run (a timeout includes its duration), but operators want to see the same failure once. */
const failureOf = (verdict: Verdict): string => {
  if (verdict.kind !== 'failed') return '';
  const { failure, error } = verdict;
  return `${failure}/${'code' in error ? error.code : error.field}`;
};

/** True if two verdicts are the same to the operator. */
const sameVerdict = (a: Verdict | undefined, b: Verdict): boolean =>
  a?.kind === b.kind && failureOf(a) === failureOf(b);

/** Returns the observer that logs: one line for each change and each write. What is as before is logged for debugging. */
export const logEvents = (deps: ProberLogDeps): Emit => {
  const { logger, dryRun } = deps;
  const told = new Told();
  return observer({
    'probing-started': ({ cluster: namespace, delayMs }) =>
      logger.info('probing', { namespace, firstRunInMs: Math.round(delayMs) }),
    'probing-stopped': ({ cluster: namespace, reason, releasePolicy }) =>
      logger.info('no longer probing', { namespace, reason, releasePolicy }),
    'settings-changed': ({ cluster: namespace }) => logger.info('settings of the shoot changed', { namespace }),
    'cluster-undecodable': ({ cluster: namespace, error: { message: error } }) =>
      logger.error('Cluster cannot be decoded: its prober is left as it is', { namespace, error }),
    'cluster-checked': ({ cluster: namespace, problem }) => {
      if (!told.isNews(namespace, 'problem', problem)) return;
      if (problem === undefined) logger.info('it is clear again which Secret is of the cluster', { namespace });
      else logger.error('it is not clear which Secret is of the cluster', { namespace, problem });
    },
    'run-ended': (event) => logRun(event, deps, told),
    'lack-changed': (event) => logLack(event, deps),
    'protection-late': ({ cluster: namespace, unmetMs }) => {
      const seconds = Math.round(unmetMs / 100) / 10;
      logger.error('the threshold is crossed, and nothing is scaled down', { namespace, seed: deps.seed?.(), seconds });
    },
    'scaling-started': ({ cluster: namespace, scaling: { direction, scope, reason } }) =>
      logger.debug(`scaling ${direction} starts`, { namespace, scope, reason }),
    'response-received': (event) => logResponse(event, deps),
    'protecting-without-lead': ({ cluster: namespace, why, reason }) =>
      logger.warn(`protecting without the lead: ${why}`, { namespace, reason }),
    'scaling-ended': (event) => logEndedScaling(event, logger, told),
    'pause-changed': (event) => logPause(event, logger),
    'held-back': ({ cluster: namespace, reason, pause }) =>
      logger.warn('not scaled down: a pause holds', { namespace, reason, pause: describePause(pause) }),
    'external-probe-attempted': (event) => logExternalProbe(event, logger),
    'unexpected-error': ({ cluster: namespace, error }) =>
      logger.error('unexpected error: this is a bug', { namespace, error }),
    forgotten: ({ cluster }) => told.forget(cluster),
    // In a dry run, another program holds the resources.
    ended: ({ held }) => {
      if (!dryRun && held.size > 0) logHeld(held, logger);
    },
  });
};

/** Returns how long the API server failed, in milliseconds, if silence counts from the end of that since this run. */
const excusedFailureIn = ({ result, before: { probe } }: EventOf<'run-ended'>): number | undefined => {
  const { excusedUntil } = result.decision.memory;
  if (excusedUntil === undefined || excusedUntil === probe.excusedUntil) return undefined;
  return excusedUntil - (probe.unanswered?.provedSince ?? excusedUntil);
};

const logRun = (event: EventOf<'run-ended'>, { logger, leads }: ProberLogDeps, told: Told): void => {
  const { cluster: namespace, result, before } = event;
  const { verdict, reason, counts } = result.decision;
  const failedMs = excusedFailureIn(event);
  const flapping = flappingIn(event);
  if (flapping !== undefined) logger.warn(flapping, { namespace });
  if (result.skewMs !== undefined) {
    const isSkewed = Math.abs(result.skewMs) > warnSkewMs;
    const isNews = told.isNews(namespace, 'skew', isSkewed || undefined);
    const seconds = Math.round(result.skewMs / 1_000);
    if (isSkewed && isNews) logger.warn("the shoot API server's clock and ours differ", { namespace, seconds });
  }
  if (failedMs !== undefined) {
    const seconds = Math.round(failedMs / 1_000);
    logger.info('the API server failed until now: silence counts from here', { namespace, seconds });
  }
  const role = leads() ? {} : { standby: true };
  const fields = { namespace, verdict: verdictNameOf(verdict), reason, ...counts, ...role };
  if (sameVerdict(before.verdict, verdict)) logger.debug('probe run', fields);
  else if (verdict.kind === 'failed') logger.error('probe failed: it gives no verdict', fields);
  else logger.info('verdict', fields);
};

const logLack = (event: EventOf<'lack-changed'>, { logger, seed }: ProberLogDeps): void => {
  const { lack, former, why, do: what } = event;
  const where = { namespace: event.cluster, seed: seed?.() };
  if (lack === 'blind') logger.warn('the shoot is blind: its probes give no verdict', { ...where, why, do: what });
  else if (lack === 'unprotected') {
    logger.warn('the shoot is not protected: an outage would not be met', { ...where, why, do: what });
  } else {
    logger.info(former === 'blind' ? 'the shoot is no longer blind' : 'the shoot is protected again', {
      ...where,
      why,
    });
  }
};

const logResponse = (event: EventOf<'response-received'>, deps: ProberLogDeps): void => {
  const { logger } = deps;
  const { cluster: namespace, outcome } = event;
  const { key: resource, result } = outcome;
  const write = writeIn(event);
  if (!result.ok && result.error.rateLimited) {
    // The request is sent again every second. The result is logged when the scaling ends.
    logger.debug('held back', { namespace, resource, error: result.error.message });
  } else if (write !== undefined) logWrite(namespace, write, deps);
  else if (!result.ok) logger.info('reading failed', { namespace, resource, error: result.error.message });
};

const logWrite = (namespace: string, ended: EndedWrite, { logger, dryRun }: ProberLogDeps): void => {
  const { resource, reason, act, undone, error, isRetriedOn } = ended;
  const { base, replicas: to, annotations = {}, unreadable } = ended.write;
  const from = base.specReplicas;
  const fields = { namespace, resource, reason, ...(to === undefined ? { annotations } : { from, to }) };
  if (error !== undefined) {
    if (error.code === 'Rejected') logger.info('not written', { ...fields, why: error.message });
    else logger[isRetriedOn ? 'debug' : 'error']('writing failed', { ...fields, error: error.message });
    return;
  }
  if (unreadable !== undefined) {
    const stored = shorten(unreadable);
    logger.error('the stored number of replicas cannot be read: restoring 1', { ...fields, stored });
  }
  const would = dryRun ? 'would have ' : '';
  logger.info(`${would}${act}`, fields);
  if (undone === undefined) return;
  const { manager } = undone;
  logger.warn(`${would}undone another writer's change of replicas`, {
    namespace,
    resource,
    manager,
    replicas: from,
    reason,
  });
};

/** Logs a failure as an error again only when it changes, because every run tries again. */
const logEndedScaling = (event: EventOf<'scaling-ended'>, logger: Logger, told: Told): void => {
  const { cluster: namespace, scaling, end, now } = event;
  const { direction, startedAt } = scaling;
  for (const { resource, error } of endedOperations(scaling, now)) {
    const isNews = told.isNews(namespace, `scaling ${resource}`, error && `${direction}: ${error}`);
    if (error === undefined) continue;
    logger[isNews ? 'error' : 'debug'](`scaling ${direction} failed`, { namespace, resource, error });
  }
  logger.debug(`scaling ${direction} ${end}`, { namespace, seconds: (now - startedAt) / 1_000 });
};

const logPause = ({ cluster, namespace, pause }: EventOf<'pause-changed'>, logger: Logger): void => {
  const fields = cluster === undefined ? {} : { namespace };
  if (pause === undefined) {
    logger.warn('the pause is over: an outage is met again, but not on resources with ignore-scaling', fields);
    return;
  }
  const { problem } = pause;
  if (problem !== undefined) logger.error('a pause cannot be read: it holds for an hour', { namespace, problem });
  const whose = cluster === undefined ? 'all shoots are' : 'the shoot is';
  logger.warn(`${whose} paused: nothing is scaled down`, { ...fields, pause: describePause(pause) });
};

const logExternalProbe = (event: EventOf<'external-probe-attempted'>, logger: Logger): void => {
  const { cluster: namespace, result, before, history } = event;
  const { state, reason, failures } = history;
  const fields = { namespace, state, reason };
  const isUnusable = result.kind === 'unusable';
  const isNews = before.state !== state || (isUnusable && before.reason !== reason);
  if (!isNews) logger.debug('external probe', { ...fields, result: result.kind, failures });
  else if (isUnusable) logger.warn('the external probe cannot be made', fields);
  else logger[state === 'unreachable' ? 'warn' : 'info']('external probe', fields);
};

/** Logs the resources that stay held when the prober stops. */
const logHeld = (held: ReadonlyMap<string, number>, logger: Logger): void => {
  const resources = [...held.values()].reduce((sum, count) => sum + count, 0);
  const those = `${resources} ${resources === 1 ? 'resource' : 'resources'} of ${held.size} ${held.size === 1 ? 'shoot' : 'shoots'}`;
  const namespaces = [...held.keys()].toSorted().slice(0, mostNamed);
  logger.warn(`stopping: ${those} stay held; ${wayOut}`, { resources, namespaces });
};
