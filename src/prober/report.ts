import { ignoreScalingAnnotation, replicasAnnotation } from '../kubernetes/api/scalable.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventRecorder } from '../telemetry/index.ts';
import { type Downtime, type Verdict, wordOf } from './judge/verdict.ts';
import { type ProberMetrics, createProberMetrics, forgetShoot } from './metrics.ts';
import type { ProbeResult } from './observe.ts';
import { type ExternalProbeReport, createExternalProbeReport } from './report-outside.ts';
import { type ScalingReport, createScalingReport } from './report-scaling.ts';

/** The only stage that logs, counts and records Events. */
export interface ProberReport extends ScalingReport, ExternalProbeReport {
  proberStarted(namespace: string, why: { readonly delayMs: number }): void;
  proberStopped(namespace: string, why: { readonly reason: string; readonly releasePolicy: string }): void;
  settingsChanged(namespace: string): void;
  clusterUndecodable(namespace: string, error: Error): void;
  probers(count: number): void;
  /** The program ends; the last that is said. */
  stopped(held: ReadonlyMap<string, number>): void;
  runEnded(namespace: string, run: EndedRun): void;
  /** The shoot is gone, or no longer probed: its series go too. */
  forget(namespace: string): void;
}

export interface EndedRun {
  readonly result: ProbeResult;
  readonly previous: Verdict | undefined;
  /** Resources that carry the mark of meltdown protection. */
  readonly held: number;
  /** Keys of the required resources that are not there. */
  readonly missing: readonly string[];
}

export interface ReportDeps {
  readonly logger: Logger;
  readonly meter: Meter;
  readonly events: EventRecorder;
  /** Nothing is written; the log says what would be. */
  readonly dryRun: boolean;
}

const wayOut =
  `a prober must come back, or annotate them with ${ignoreScalingAnnotation}=true and scale them by hand ` +
  `to the number in ${replicasAnnotation}`;
/** Of shoots, in one line of the log. */
const mostNamed = 20;

const warnSkewMs = 5_000;

/** Messages differ from run to run (a time-out says after how long); what fails and how is what an operator wants to hear once. */
const failureOf = (verdict: Verdict): string => {
  if (verdict.kind !== 'failed') return '';
  const { failure, error } = verdict;
  return `${failure}/${'code' in error ? error.code : error.field}`;
};

/** Two verdicts that are one to the operator. */
const sameVerdict = (a: Verdict | undefined, b: Verdict): boolean =>
  a?.kind === b.kind && failureOf(a) === failureOf(b);

interface MissingReport {
  update(namespace: string, missing: readonly string[]): void;
  forget(namespace: string): void;
}

/** Reports a required resource once when it is found missing, and once when it is there. */
const createMissingReport = ({ logger, metrics }: { logger: Logger; metrics: ProberMetrics }): MissingReport => {
  const known = new Map<string, ReadonlySet<string>>();
  return {
    update: (namespace, missing) => {
      const before = known.get(namespace) ?? new Set();
      const now = new Set(missing);
      metrics.missing.set(now.size, { namespace });
      for (const resource of missing) {
        if (before.has(resource)) continue;
        logger.error('a required resource is missing: it cannot be scaled down in an outage', { namespace, resource });
      }
      for (const resource of before) {
        if (!now.has(resource)) logger.info('a missing resource is there', { namespace, resource });
      }
      if (now.size > 0) known.set(namespace, now);
      else known.delete(namespace);
    },
    forget: (namespace) => known.delete(namespace),
  };
};

/** To be called once per meter: it declares the prober's metrics. */
export const createProberReport = ({ logger, meter, events, dryRun }: ReportDeps): ProberReport => {
  const metrics = createProberMetrics(meter);
  const skewed = new Set<string>();
  const missingIn = createMissingReport({ logger, metrics });
  /** Shoots whose API server was assumed to be down, which is logged once. */
  const assumed = new Set<string>();

  const reportRun: ProberReport['runEnded'] = (namespace, { result, previous, held, missing }) => {
    const { decision, durationMs, skewMs } = result;
    const { verdict, reason, counts } = decision;
    metrics.runs.inc({ namespace, result: wordOf(verdict) });
    metrics.runSeconds.observe(durationMs / 1_000);
    metrics.held.set(held, { namespace });
    missingIn.update(namespace, missing);
    if (counts !== undefined) {
      metrics.candidates.set(counts.candidates, { namespace });
      metrics.expired.set(counts.expired, { namespace });
    }
    if (skewMs !== undefined) reportSkew(namespace, skewMs);
    if (decision.downtime !== undefined) reportDowntime(namespace, decision.downtime);
    const fields = { namespace, verdict: wordOf(verdict), reason, ...counts };
    if (sameVerdict(previous, verdict)) logger.debug('probe run', fields);
    else if (verdict.kind === 'failed') logger.error('probe failed: nothing is scaled', fields);
    else logger.info('verdict', fields);
  };

  const reportSkew = (namespace: string, skewMs: number): void => {
    metrics.skew.set(skewMs / 1_000, { namespace });
    if (Math.abs(skewMs) <= warnSkewMs) skewed.delete(namespace);
    else if (!skewed.has(namespace)) {
      skewed.add(namespace);
      const seconds = Math.round(skewMs / 1_000);
      logger.warn("the shoot API server's clock and ours differ", { namespace, seconds });
    }
  };

  const reportDowntime = (namespace: string, { evidence, ms }: Downtime): void => {
    metrics.downtimes.inc({ namespace, evidence });
    const seconds = Number.isFinite(ms) ? { seconds: Math.round(ms / 1_000) } : {};
    logger.info('the API server was down: its leases are given their time again', { namespace, evidence, ...seconds });
    if (evidence !== 'assumed' || assumed.has(namespace)) return;
    assumed.add(namespace);
    logger.warn(
      'an API server out of reach was taken to be down: check apiServerRef, and the right to list and watch it',
      { namespace },
    );
  };

  const scaling = createScalingReport({ logger, metrics, events, dryRun });
  return {
    ...scaling,
    ...createExternalProbeReport({ logger, metrics }),
    proberStarted: (namespace, { delayMs }) => logger.info('probing', { namespace, firstRunInMs: Math.round(delayMs) }),
    proberStopped: (namespace, { reason, releasePolicy }) =>
      logger.info('no longer probing', { namespace, reason, farewell: releasePolicy }),
    settingsChanged: (namespace) => logger.info('settings of the shoot changed', { namespace }),
    clusterUndecodable: (namespace, error) => {
      metrics.clusterErrors.inc({ namespace });
      logger.error('Cluster cannot be decoded: its prober is left as it is', { namespace, error: error.message });
    },
    probers: (count) => metrics.probers.set(count),
    stopped: (held) => {
      // What is held is another program's affair then.
      if (dryRun || held.size === 0) return;
      const resources = [...held.values()].reduce((sum, count) => sum + count, 0);
      const those = `${resources} ${resources === 1 ? 'resource' : 'resources'} of ${held.size} ${held.size === 1 ? 'shoot' : 'shoots'}`;
      const namespaces = [...held.keys()].toSorted();
      logger.warn(`stopping: ${those} stay held; ${wayOut}`, { resources, namespaces: namespaces.slice(0, mostNamed) });
    },
    runEnded: reportRun,
    broke: (namespace, error) => {
      metrics.bugs.inc({ namespace });
      logger.error('unexpected error: this is a bug', { namespace, error });
    },
    forget: (namespace) => {
      skewed.delete(namespace);
      missingIn.forget(namespace);
      assumed.delete(namespace);
      scaling.forget(namespace);
      forgetShoot(metrics, namespace);
    },
  };
};
