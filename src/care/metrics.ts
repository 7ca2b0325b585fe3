import type { Counter, Gauge, Histogram, Meter } from '../ports/meter.ts';

export interface CareMetrics {
  readonly conditions: Gauge;
  readonly changes: Counter;
  readonly runs: Counter;
  readonly runSeconds: Histogram;
  readonly unreadable: Gauge;
  readonly bugs: Counter;
}

/** Label of a shoot's series: its control-plane namespace. */
const perShoot = ['namespace'] as const;

export const createCareMetrics = (meter: Meter): CareMetrics => ({
  conditions: meter.gauge({
    name: 'dwd_care_condition',
    help: '1 for the current status of a condition of a shoot; no series for its other statuses.',
    labels: [...perShoot, 'condition', 'status'],
  }),
  changes: meter.counter({
    name: 'dwd_care_condition_changes_total',
    help: 'Status changes of conditions, by condition and new status.',
    labels: ['condition', 'status'],
  }),
  runs: meter.counter({
    name: 'dwd_care_runs_total',
    help: 'Care runs by outcome: written, unchanged, left-alone, elsewhere, failed, gone, dry-run or no-garden; unreadable if the Cluster could not be read.',
    labels: ['outcome'],
  }),
  runSeconds: meter.histogram({
    name: 'dwd_care_run_seconds',
    help: 'Duration of a care run.',
    buckets: [0.05, 0.1, 0.3, 1, 3, 5, 10, 15, 30, 60, 120],
  }),
  unreadable: meter.gauge({
    name: 'dwd_care_cluster_unreadable',
    help: '1 while the Cluster of a shoot cannot be read, so that the shoot is not checked.',
    labels: perShoot,
  }),
  bugs: meter.counter({
    name: 'dwd_care_unexpected_errors_total',
    help: 'Unexpected exceptions; each is a bug.',
  }),
});
