import type { Counter, Gauge, Meter } from '../ports/meter.ts';

export interface HealthCheckMetrics {
  readonly conditions: Gauge;
  readonly runs: Counter;
  readonly heartbeats: Counter;
}

/** To be called once per meter. */
export const createHealthCheckMetrics = (meter: Meter): HealthCheckMetrics => ({
  conditions: meter.gauge({
    name: 'dwd_healthcheck_condition',
    help: 'Conditions of extension objects: 1 for the status that a condition has now.',
    labels: ['kind', 'namespace', 'name', 'condition', 'status'],
  }),
  runs: meter.counter({
    name: 'dwd_healthcheck_runs_total',
    help: 'Runs of health checks, by what became of the object: checked, hibernated, left-alone (it goes or moves) or failed.',
    labels: ['kind', 'outcome'],
  }),
  heartbeats: meter.counter({
    name: 'dwd_healthcheck_heartbeats_total',
    help: 'Attempts to renew the heartbeat of the extension, by outcome: renewed or failed.',
    labels: ['outcome'],
  }),
});
