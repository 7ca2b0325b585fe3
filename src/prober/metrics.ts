import type { Counter, Gauge, Histogram, Meter, MetricDefinition } from '../ports/meter.ts';

type HistogramDefinition = Parameters<Meter['histogram']>[0];

/** Label of a shoot's series: its control-plane namespace. */
const perShoot = ['namespace'] as const;

const counters = {
  runs: {
    name: 'dwd_prober_runs_total',
    help: 'Probe runs by result.',
    labels: [...perShoot, 'result'],
  },
  downtimes: {
    name: 'dwd_prober_api_server_downtimes_total',
    help: 'Times after which the leases of a shoot were given their time again, by what showed that its API server had been down; assumed: nothing did, but its Deployment is not known.',
    labels: [...perShoot, 'evidence'],
  },
  operations: {
    name: 'dwd_prober_scale_operations_total',
    help: 'Scale operations by direction and result.',
    labels: [...perShoot, 'direction', 'result'],
  },
  foreignChanges: {
    name: 'dwd_prober_foreign_changes_undone_total',
    help: 'Replica counts set by another field manager that the prober has overwritten, by that manager.',
    labels: [...perShoot, 'resource', 'manager'],
  },
  withoutLead: {
    name: 'dwd_prober_protections_without_lead_total',
    help: 'Scale-downs that a standby began because the leader could not be at work: it did not renew its Lease (leader-silent), or wrote nothing (nothing-written).',
    labels: [...perShoot, 'cause'],
  },
  externalAttempts: {
    name: 'dwd_prober_outside_path_tries_total',
    help: 'Tries of the outside path by result.',
    labels: [...perShoot, 'result'],
  },
  clusterErrors: {
    name: 'dwd_prober_cluster_decode_errors_total',
    help: 'Clusters whose shoot could not be decoded.',
    labels: perShoot,
  },
  bugs: {
    name: 'dwd_prober_unexpected_errors_total',
    help: 'Exceptions that a prober did not foresee; each is a bug.',
    labels: perShoot,
  },
} satisfies Readonly<Record<string, MetricDefinition>>;

const gauges = {
  candidates: {
    name: 'dwd_prober_candidate_leases',
    help: 'Node leases that count, as of the last run that listed nodes.',
    labels: perShoot,
  },
  expired: {
    name: 'dwd_prober_expired_leases',
    help: 'Those of the candidate leases that have expired.',
    labels: perShoot,
  },
  skew: {
    name: 'dwd_prober_clock_skew_seconds',
    help: "The API server's clock minus ours, by the Date header (resolution 1 s).",
    labels: perShoot,
  },
  held: {
    name: 'dwd_prober_held_resources',
    help: 'Resources that the last writes left scaled down.',
    labels: perShoot,
  },
  heldSince: {
    name: 'dwd_prober_held_since_timestamp_seconds',
    help: 'Since when a resource of the shoot is held, as Unix time; no series while none is.',
    labels: perShoot,
  },
  lastRun: {
    name: 'dwd_prober_last_run_timestamp_seconds',
    help: 'When the last probe run of the shoot ended, as Unix time; before its first one, when that is due.',
    labels: perShoot,
  },
  late: {
    name: 'dwd_prober_late_protection_timestamp_seconds',
    help: 'When the shoot last was past its threshold for five seconds with nothing scaled down, as Unix time; no series where that never was.',
    labels: perShoot,
  },
  interval: { name: 'dwd_prober_probe_interval_seconds', help: 'Configured time between two probes of a shoot.' },
  missing: {
    name: 'dwd_prober_missing_resources',
    help: 'Required dependent resources that do not exist in the namespace of the shoot.',
    labels: perShoot,
  },
  ignored: {
    name: 'dwd_prober_ignored_resources',
    help: 'Dependent resources that the annotation ignore-scaling keeps from being scaled down: an outage is not met there.',
    labels: perShoot,
  },
  flapping: {
    name: 'dwd_prober_flapping',
    help: '1 while a shoot has tripped again within ten minutes of its restoration: the next one waits for longer.',
    labels: perShoot,
  },
  paused: {
    name: 'dwd_prober_paused',
    help: '1 while an operator has paused the shoot, or all shoots: nothing is scaled down.',
    labels: perShoot,
  },
  probers: { name: 'dwd_prober_probers', help: 'Shoots that are probed.' },
  shoots: {
    name: 'dwd_prober_shoots',
    help: 'Shoots by their latest verdict, as the results of dwd_prober_runs_total.',
    labels: ['verdict'],
  },
  margin: {
    name: 'dwd_prober_grace_left_seconds',
    help: 'What was left of the node monitor grace period at the latest scale-down write.',
    labels: perShoot,
  },
  externalProbeState: {
    name: 'dwd_prober_outside_path_state',
    help: '1 for the state (whole, broken, unknown) that the outside path is in, 0 for the others.',
    labels: [...perShoot, 'state'],
  },
  externalFaultIsOurs: {
    name: 'dwd_prober_outside_path_fault_is_ours',
    help: '1 while most outside paths of the seed are broken though leases renew: none of them counts.',
  },
} satisfies Readonly<Record<string, MetricDefinition>>;

const histograms = {
  runSeconds: {
    name: 'dwd_prober_run_duration_seconds',
    help: 'Duration of a probe run.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  },
  operationSeconds: {
    name: 'dwd_prober_scale_operation_duration_seconds',
    help: 'Duration of a scale operation, from the start of its level until its pods have followed.',
    labels: ['direction'],
    buckets: [0.1, 0.3, 1, 3, 10, 30, 100, 300],
  },
  downSeconds: {
    name: 'dwd_prober_threshold_to_last_write_seconds',
    help: 'Time from the crossing of the threshold to the latest scale-down write of a flow.',
    buckets: [0.1, 0.3, 1, 2, 3, 5, 10, 30],
  },
} satisfies Readonly<Record<string, HistogramDefinition>>;

export type ProberMetrics = Readonly<
  Record<keyof typeof counters, Counter> &
    Record<keyof typeof gauges, Gauge> &
    Record<keyof typeof histograms, Histogram>
>;

const declare = <Name extends string, Definition, Metric>(
  definitions: Readonly<Record<Name, Definition>>,
  create: (definition: Definition) => Metric,
): Record<Name, Metric> => {
  const names = Object.keys(definitions) as Name[];
  return Object.fromEntries(names.map((name) => [name, create(definitions[name])])) as Record<Name, Metric>;
};

export const createProberMetrics = (meter: Meter): ProberMetrics => ({
  ...declare<keyof typeof counters, MetricDefinition, Counter>(counters, (definition) => meter.counter(definition)),
  ...declare<keyof typeof gauges, MetricDefinition, Gauge>(gauges, (definition) => meter.gauge(definition)),
  ...declare<keyof typeof histograms, HistogramDefinition, Histogram>(histograms, (definition) =>
    meter.histogram(definition),
  ),
});

/** Removes the series of a shoot that no longer exists. */
export const forgetShoot = (metrics: ProberMetrics, namespace: string): void => {
  for (const metric of Object.values(metrics)) metric.remove({ namespace });
};
