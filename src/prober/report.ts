import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventRecorder } from '../telemetry/index.ts';
import { verdictNameOf } from './judge/verdict.ts';
import { HeldGauges } from './report/held-gauges.ts';
import { type ProberMetrics, createProberMetrics, forgetShoot } from './metrics.ts';
import { LateProtectionReporter } from './report/late-protection.ts';
import { type ExternalProbeReport, ExternalProbeReporter } from './report/external-probe.ts';
import { ClusterProblemReporter } from './report/cluster-problem.ts';
import { type PauseReport, PauseReporter } from './report/pause.ts';
import { type EndedRun, RunReporter } from './report/run.ts';
import { type ScalingReport, ScalingReporter } from './report/scaling.ts';
import { logStopped } from './report/stop.ts';
import { VerdictCounts } from './report/verdict-counts.ts';

/** The only stage that logs, counts and records Events. `namespace` is the name of a cluster, as log and metrics label it. */
export interface ProberReport extends ScalingReport, ExternalProbeReport, PauseReport {
  proberStarted(namespace: string, why: { readonly delayMs: number }): void;
  proberStopped(namespace: string, why: { readonly reason: string; readonly releasePolicy: string }): void;
  settingsChanged(namespace: string): void;
  clusterUndecodable(namespace: string, error: Error): void;
  /** Reports a problem that somebody has to fix although the cluster is probed; undefined if there is none. May be called any number of times. */
  clusterProblem(namespace: string, problem: string | undefined): void;
  probers(count: number): void;
  /** Sets the probe interval of the configuration that takes effect. */
  probeInterval(ms: number): void;
  /** The last report, when the program ends. */
  stopped(held: ReadonlyMap<string, number>): void;
  runEnded(namespace: string, run: EndedRun): void;
  /** Removes the state and the series of a shoot that is gone or no longer probed. */
  forget(namespace: string): void;
}

export interface ProberReportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly events: EventRecorder;
  /** True if nothing is written. The log then shows would-be writes. */
  readonly dryRun: boolean;
  /** Namespace of the prober. Default: garden. */
  readonly ownNamespace?: string;
  /** True if this process leads. A standby observes, logs and counts too, but leaves Events to the leader. Default: true. */
  readonly leads?: () => boolean;
}

/** Reports which shoots are probed. */
const reportProbers = (
  { clock, logger }: ProberReportDeps,
  metrics: ProberMetrics,
): Pick<ProberReport, 'probers' | 'proberStarted' | 'proberStopped' | 'settingsChanged' | 'clusterUndecodable'> => ({
  probers: (count) => metrics.probers.set(count),
  proberStarted: (namespace, { delayMs }) => {
    metrics.lastRun.set((clock.now() + delayMs) / 1_000, { namespace });
    logger.info('probing', { namespace, firstRunInMs: Math.round(delayMs) });
  },
  proberStopped: (namespace, { reason, releasePolicy }) =>
    logger.info('no longer probing', { namespace, reason, releasePolicy }),
  settingsChanged: (namespace) => logger.info('settings of the shoot changed', { namespace }),
  clusterUndecodable: (namespace, error) => {
    metrics.clusterErrors.inc({ namespace });
    logger.error('Cluster cannot be decoded: its prober is left as it is', { namespace, error: error.message });
  },
});

/** Creates the report. Call it once per meter, because it declares the prober's metrics. */
export const createProberReport = (deps: ProberReportDeps): ProberReport => {
  const { clock, logger, meter, events, dryRun, ownNamespace = 'garden', leads = () => true } = deps;
  const metrics = createProberMetrics(meter);
  const held = new HeldGauges(clock, metrics);
  const recordEvent: EventRecorder['record'] = (event) => {
    if (!dryRun && leads()) events.record(event);
  };
  const runs = new RunReporter({ clock, logger, leads, recordEvent, metrics, held });
  const external = new ExternalProbeReporter({ logger, metrics });
  const scaling = new ScalingReporter({ logger, metrics, events, dryRun, held });
  const verdicts = new VerdictCounts(metrics);
  const pauses = new PauseReporter({ logger, metrics, ownNamespace, recordEvent });
  const problems = new ClusterProblemReporter({ logger, recordEvent });
  const late = new LateProtectionReporter({ clock, logger, metrics });
  return {
    ...reportProbers(deps, metrics),
    clusterProblem: (namespace, problem) => problems.found(namespace, problem),
    probeInterval: (ms) => metrics.interval.set(ms / 1_000),
    runEnded: (namespace, run) => {
      const { decision } = run.result;
      runs.ended(namespace, run);
      verdicts.judged(namespace, verdictNameOf(decision.verdict));
      late.judged(namespace, { decision, isUnprotected: run.isUnprotected });
    },
    flowStarted: (namespace, flow) => scaling.flowStarted(namespace, flow),
    responseReceived: (namespace, answer) => scaling.responseReceived(namespace, answer),
    flowEnded: (namespace, ended) => scaling.flowEnded(namespace, ended),
    externalProbeAttempted: (namespace, ended) => external.attempted(namespace, ended),
    externalProbeState: (namespace, state) => external.state(namespace, state),
    externalProbeStopped: (namespace) => external.stopped(namespace),
    pauseChanged: (change) => pauses.pauseChanged(change),
    paused: (namespace, isPaused) => pauses.paused(namespace, isPaused),
    preventedByPause: (namespace, why) => pauses.preventedByPause(namespace, why),
    unexpectedError: (namespace, error) => {
      metrics.bugs.inc({ namespace });
      logger.error('unexpected error: this is a bug', { namespace, error });
    },
    // In a dry run, another program holds the resources.
    stopped: (stillHeld) => {
      late.stop();
      if (!dryRun && stillHeld.size > 0) logStopped(logger, stillHeld);
    },
    forget: (namespace) => {
      runs.forget(namespace);
      late.forget(namespace);
      problems.forget(namespace);
      verdicts.forget(namespace);
      held.forget(namespace);
      scaling.forget(namespace);
      forgetShoot(metrics, namespace);
    },
  };
};
