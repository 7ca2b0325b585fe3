import type { Counter, Gauge, Histogram, Meter } from '../ports/meter.ts';

export interface ProberMetrics {
  readonly runs: Counter;
  readonly runSeconds: Histogram;
  readonly candidates: Gauge;
  readonly expired: Gauge;
  readonly skew: Gauge;
  readonly downtimes: Counter;
  readonly operations: Counter;
  readonly operationSeconds: Histogram;
  readonly held: Gauge;
  readonly missing: Gauge;
  readonly foreignChanges: Counter;
  readonly probers: Gauge;
  readonly downSeconds: Histogram;
  readonly margin: Gauge;
  readonly externalAttempts: Counter;
  readonly externalProbeState: Gauge;
  readonly externalFaultIsOurs: Gauge;
  readonly clusterErrors: Counter;
  readonly bugs: Counter;
}

/** Label of a shoot's series: its control-plane namespace. */
const perShoot = ['namespace'] as const;

export const createProberMetrics = (meter: Meter): ProberMetrics => ({
  runs: meter.counter({
    name: 'dwd_prober_runs_total',
    help: 'Probe runs by result.',
    labels: [...perShoot, 'result'],
  }),
  runSeconds: meter.histogram({
    name: 'dwd_prober_run_duration_seconds',
    help: 'Duration of a probe run.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  }),
  candidates: meter.gauge({
    name: 'dwd_prober_candidate_leases',
    help: 'Node leases that count, as of the last run that listed nodes.',
    labels: perShoot,
  }),
  expired: meter.gauge({
    name: 'dwd_prober_expired_leases',
    help: 'Those of the candidate leases that have expired.',
    labels: perShoot,
  }),
  skew: meter.gauge({
    name: 'dwd_prober_clock_skew_seconds',
    help: "The API server's clock minus ours, by the Date header (resolution 1 s).",
    labels: perShoot,
  }),
  downtimes: meter.counter({
    name: 'dwd_prober_api_server_downtimes_total',
    help: 'Times after which the leases of a shoot were given their time again, by what showed that its API server had been down; assumed: nothing did, but its Deployment is not known.',
    labels: [...perShoot, 'evidence'],
  }),
  operations: meter.counter({
    name: 'dwd_prober_scale_operations_total',
    help: 'Scale operations by direction and result.',
    labels: [...perShoot, 'direction', 'result'],
  }),
  operationSeconds: meter.histogram({
    name: 'dwd_prober_scale_operation_duration_seconds',
    help: 'Duration of a scale operation, from the start of its level until its pods have followed.',
    labels: ['direction'],
    buckets: [0.1, 0.3, 1, 3, 10, 30, 100, 300],
  }),
  held: meter.gauge({
    name: 'dwd_prober_held_resources',
    help: 'Resources that the last writes left scaled down.',
    labels: perShoot,
  }),
  missing: meter.gauge({
    name: 'dwd_prober_missing_resources',
    help: 'Required dependent resources that do not exist in the namespace of the shoot.',
    labels: perShoot,
  }),
  foreignChanges: meter.counter({
    name: 'dwd_prober_foreign_changes_undone_total',
    help: 'Replica counts set by another field manager that the prober has overwritten, by that manager.',
    labels: [...perShoot, 'resource', 'manager'],
  }),
  probers: meter.gauge({ name: 'dwd_prober_probers', help: 'Shoots that are probed.' }),
  downSeconds: meter.histogram({
    name: 'dwd_prober_threshold_to_last_write_seconds',
    help: 'Time from the crossing of the threshold to the latest scale-down write of a flow.',
    buckets: [0.1, 0.3, 1, 2, 3, 5, 10, 30],
  }),
  margin: meter.gauge({
    name: 'dwd_prober_grace_left_seconds',
    help: 'What was left of the node monitor grace period at the latest scale-down write.',
    labels: perShoot,
  }),
  externalAttempts: meter.counter({
    name: 'dwd_prober_outside_path_tries_total',
    help: 'Tries of the outside path by result.',
    labels: [...perShoot, 'result'],
  }),
  externalProbeState: meter.gauge({
    name: 'dwd_prober_outside_path_state',
    help: '1 for the state (whole, broken, unknown) that the outside path is in, 0 for the others.',
    labels: [...perShoot, 'state'],
  }),
  externalFaultIsOurs: meter.gauge({
    name: 'dwd_prober_outside_path_fault_is_ours',
    help: '1 while most outside paths of the seed are broken though leases renew: none of them counts.',
  }),
  clusterErrors: meter.counter({
    name: 'dwd_prober_cluster_decode_errors_total',
    help: 'Clusters whose shoot could not be decoded.',
    labels: perShoot,
  }),
  bugs: meter.counter({
    name: 'dwd_prober_unexpected_errors_total',
    help: 'Exceptions that a prober did not foresee; each is a bug.',
    labels: perShoot,
  }),
});

const everyShootSeries = [
  'runs',
  'candidates',
  'expired',
  'skew',
  'downtimes',
  'operations',
  'held',
  'missing',
  'foreignChanges',
  'margin',
  'externalAttempts',
  'externalProbeState',
  'clusterErrors',
  'bugs',
] as const;

/** Forgets the series of a shoot that is no longer there. */
export const forgetShoot = (metrics: ProberMetrics, namespace: string): void => {
  for (const name of everyShootSeries) metrics[name].remove({ namespace });
};
