import type { Counter, Gauge, Meter } from '../ports/meter.ts';

export interface HealthCheckMetrics {
  readonly conditions: Gauge;
  readonly runs: Counter;
  readonly heartbeats: Counter;
}

/** Declares the metrics of health checks. Call it once per meter. */
export const createHealthCheckMetrics = (meter: Meter): HealthCheckMetrics => ({
  conditions: meter.gauge({
    name: 'dwd_healthcheck_condition',
    help: '1 for the current status of a condition of an extension object; no series for its other statuses.',
    labels: ['kind', 'namespace', 'name', 'condition', 'status'],
  }),
  runs: meter.counter({
    name: 'dwd_healthcheck_runs_total',
    help: 'Runs of health checks by outcome: checked, hibernated, left-alone (the object is being deleted or migrated, or a predicate excludes it) or failed.',
    labels: ['kind', 'outcome'],
  }),
  heartbeats: meter.counter({
    name: 'dwd_healthcheck_heartbeats_total',
    help: 'Attempts to renew the heartbeat of the extension, by outcome: renewed or failed.',
    labels: ['outcome'],
  }),
});
