import { ignoreScalingAnnotation, replicasAnnotation } from '../kubernetes/api/scalable.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventRecorder } from '../telemetry/index.ts';
import { type Downtime, type Verdict, wordOf } from './judge/verdict.ts';
import { type ProberMetrics, createProberMetrics, forgetShoot } from './metrics.ts';
import type { ProbeResult } from './probe.ts';
import { type ExternalProbeReport, ExternalProbeReporter } from './report-external-probe.ts';
import { type ScalingReport, ScalingReporter } from './report-scaling.ts';

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

/** Shoots of which something was logged that is logged once. */
interface Once {
  /** Clocks that differ too much. */
  readonly skewed: Set<string>;
  /** An API server out of reach that was assumed to be down. */
  readonly assumedDown: Set<string>;
  /** Required resources that are missing. */
  readonly missing: Map<string, ReadonlySet<string>>;
}

/** Reports probe runs. */
class RunReporter {
  readonly #logger: Logger;
  readonly #metrics: ProberMetrics;
  readonly #once: Once = { skewed: new Set(), assumedDown: new Set(), missing: new Map() };

  constructor(logger: Logger, metrics: ProberMetrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  ended(namespace: string, { result, previous, held, missing }: EndedRun): void {
    const metrics = this.#metrics;
    const { decision, durationMs, skewMs } = result;
    const { verdict, reason, counts } = decision;
    metrics.runs.inc({ namespace, result: wordOf(verdict) });
    metrics.runSeconds.observe(durationMs / 1_000);
    metrics.held.set(held, { namespace });
    this.#missing(namespace, missing);
    if (counts !== undefined) {
      metrics.candidates.set(counts.candidates, { namespace });
      metrics.expired.set(counts.expired, { namespace });
    }
    if (skewMs !== undefined) this.#skew(namespace, skewMs);
    if (decision.downtime !== undefined) this.#downtime(namespace, decision.downtime);
    const fields = { namespace, verdict: wordOf(verdict), reason, ...counts };
    if (sameVerdict(previous, verdict)) this.#logger.debug('probe run', fields);
    else if (verdict.kind === 'failed') this.#logger.error('probe failed: nothing is scaled', fields);
    else this.#logger.info('verdict', fields);
  }

  forget(namespace: string): void {
    const { skewed, assumedDown, missing } = this.#once;
    for (const known of [skewed, assumedDown, missing]) known.delete(namespace);
  }

  /** Logs a required resource when it is found missing, and when it is there. */
  #missing(namespace: string, missing: readonly string[]): void {
    const known = this.#once.missing.get(namespace) ?? new Set();
    const now = new Set(missing);
    this.#metrics.missing.set(now.size, { namespace });
    for (const resource of now) {
      if (known.has(resource)) continue;
      const message = 'a required resource is missing: it cannot be scaled down in an outage';
      this.#logger.error(message, { namespace, resource });
    }
    for (const resource of known) {
      if (!now.has(resource)) this.#logger.info('a missing resource is there', { namespace, resource });
    }
    if (now.size > 0) this.#once.missing.set(namespace, now);
    else this.#once.missing.delete(namespace);
  }

  #skew(namespace: string, skewMs: number): void {
    const { skewed } = this.#once;
    this.#metrics.skew.set(skewMs / 1_000, { namespace });
    if (Math.abs(skewMs) <= warnSkewMs) skewed.delete(namespace);
    else if (!skewed.has(namespace)) {
      skewed.add(namespace);
      const seconds = Math.round(skewMs / 1_000);
      this.#logger.warn("the shoot API server's clock and ours differ", { namespace, seconds });
    }
  }

  #downtime(namespace: string, { evidence, ms }: Downtime): void {
    const { assumedDown } = this.#once;
    this.#metrics.downtimes.inc({ namespace, evidence });
    const fields = { namespace, evidence, ...(Number.isFinite(ms) ? { seconds: Math.round(ms / 1_000) } : {}) };
    this.#logger.info('the API server was down: its leases are given their time again', fields);
    if (evidence !== 'assumed' || assumedDown.has(namespace)) return;
    assumedDown.add(namespace);
    this.#logger.warn(
      'an API server out of reach was taken to be down: check apiServerRef, and the right to list and watch it',
      { namespace },
    );
  }
}

const logStopped = (logger: Logger, held: ReadonlyMap<string, number>): void => {
  const resources = [...held.values()].reduce((sum, count) => sum + count, 0);
  const those = `${resources} ${resources === 1 ? 'resource' : 'resources'} of ${held.size} ${held.size === 1 ? 'shoot' : 'shoots'}`;
  const namespaces = [...held.keys()].toSorted();
  logger.warn(`stopping: ${those} stay held; ${wayOut}`, { resources, namespaces: namespaces.slice(0, mostNamed) });
};

/** To be called once per meter: it declares the prober's metrics. */
export const createProberReport = ({ logger, meter, events, dryRun }: ReportDeps): ProberReport => {
  const metrics = createProberMetrics(meter);
  const runs = new RunReporter(logger, metrics);
  const external = new ExternalProbeReporter({ logger, metrics });
  const scaling = new ScalingReporter({ logger, metrics, events, dryRun });
  return {
    proberStarted: (namespace, { delayMs }) => logger.info('probing', { namespace, firstRunInMs: Math.round(delayMs) }),
    proberStopped: (namespace, { reason, releasePolicy }) =>
      logger.info('no longer probing', { namespace, reason, farewell: releasePolicy }),
    settingsChanged: (namespace) => logger.info('settings of the shoot changed', { namespace }),
    clusterUndecodable: (namespace, error) => {
      metrics.clusterErrors.inc({ namespace });
      logger.error('Cluster cannot be decoded: its prober is left as it is', { namespace, error: error.message });
    },
    probers: (count) => metrics.probers.set(count),
    runEnded: (namespace, run) => runs.ended(namespace, run),
    flowStarted: (namespace, flow) => scaling.flowStarted(namespace, flow),
    answered: (namespace, answer) => scaling.answered(namespace, answer),
    flowEnded: (namespace, ended) => scaling.flowEnded(namespace, ended),
    externalProbeAttempted: (namespace, ended) => external.attempted(namespace, ended),
    externalProbeState: (namespace, state) => external.state(namespace, state),
    externalProbeStopped: (namespace) => external.stopped(namespace),
    externalFaultIsOurs: (isOurs) => external.faultIsOurs(isOurs),
    broke: (namespace, error) => {
      metrics.bugs.inc({ namespace });
      logger.error('unexpected error: this is a bug', { namespace, error });
    },
    // In a dry run, what is held is held by another program.
    stopped: (held) => {
      if (!dryRun && held.size > 0) logStopped(logger, held);
    },
    forget: (namespace) => {
      runs.forget(namespace);
      scaling.forget(namespace);
      forgetShoot(metrics, namespace);
    },
  };
};
