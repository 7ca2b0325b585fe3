import type { Counter, Gauge, Histogram, Meter, MetricDefinition } from '../ports/meter.ts';

type HistogramDefinition = Parameters<Meter['histogram']>[0];

/** Label of a shoot's series: the namespace of its control plane. */
const perShoot = ['namespace'] as const;

const counters = {
  runs: {
    name: 'dwd_prober_runs_total',
    help: 'Probe runs by result.',
    labels: [...perShoot, 'result'],
  },
  downtimes: {
    name: 'dwd_prober_api_server_downtimes_total',
    help: 'Failures of an API server, 15 s or longer, after which the silence of its kubelets counted from their end.',
    labels: perShoot,
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
    help: 'Scale-downs by a standby, because the leader had left a resource up for 3 s.',
    labels: perShoot,
  },
  externalAttempts: {
    name: 'dwd_prober_external_probe_attempts_total',
    help: 'Attempts of the external probe by result: answered, failed or unusable.',
    labels: [...perShoot, 'result'],
  },
  clusterErrors: {
    name: 'dwd_prober_cluster_decode_errors_total',
    help: 'Times that the shoot in a Cluster could not be decoded.',
    labels: perShoot,
  },
  bugs: {
    name: 'dwd_prober_unexpected_errors_total',
    help: 'Unexpected exceptions; each is a bug.',
    labels: perShoot,
  },
} satisfies Readonly<Record<string, MetricDefinition>>;

const gauges = {
  candidates: {
    name: 'dwd_prober_candidate_leases',
    help: 'Candidates: node leases that count, as of the last run that listed the nodes.',
    labels: perShoot,
  },
  expired: {
    name: 'dwd_prober_expired_leases',
    help: 'Candidate leases that have expired, as of the last run that listed the nodes.',
    labels: perShoot,
  },
  skew: {
    name: 'dwd_prober_clock_skew_seconds',
    help: "Clock of the shoot's API server minus the prober's clock, by the Date header (resolution 1 s).",
    labels: perShoot,
  },
  held: {
    name: 'dwd_prober_held_resources',
    help: 'Resources of the shoot that are held: scaled down.',
    labels: perShoot,
  },
  heldSince: {
    name: 'dwd_prober_held_since_timestamp_seconds',
    help: 'Unix time since which a resource of the shoot has been held; no series while none is held.',
    labels: perShoot,
  },
  lastRun: {
    name: 'dwd_prober_last_run_timestamp_seconds',
    help: 'Unix time at which the last probe run of the shoot ended; before the first run, the time at which it is due.',
    labels: perShoot,
  },
  late: {
    name: 'dwd_prober_late_protection_timestamp_seconds',
    help: 'Unix time at which the shoot was last found with nothing held five seconds after its threshold was crossed; no series if that never happened.',
    labels: perShoot,
  },
  interval: { name: 'dwd_prober_probe_interval_seconds', help: 'Configured time between two probes of a shoot.' },
  missing: {
    name: 'dwd_prober_missing_resources',
    help: 'Required dependent resources of the shoot that do not exist.',
    labels: perShoot,
  },
  ignored: {
    name: 'dwd_prober_ignored_resources',
    help: 'Dependent resources that the prober does not scale down in an outage, because of their annotation ignore-scaling.',
    labels: perShoot,
  },
  flapping: {
    name: 'dwd_prober_flapping',
    help: '1 while the shoot is flapping: an outage began within ten minutes of a restoration, so the next restoration waits longer.',
    labels: perShoot,
  },
  paused: {
    name: 'dwd_prober_paused',
    help: '1 while an operator has paused the shoot or all shoots, so that nothing is scaled down.',
    labels: perShoot,
  },
  probers: {
    name: 'dwd_prober_probers',
    help: 'Shoots that have a prober: they are probed, or their held resources are being released.',
  },
  shoots: {
    name: 'dwd_prober_shoots',
    help: 'Shoots by latest verdict; the verdicts are the results of dwd_prober_runs_total.',
    labels: ['verdict'],
  },
  margin: {
    name: 'dwd_prober_grace_left_seconds',
    help: 'Time left of the node monitor grace period at the latest scale-down write.',
    labels: perShoot,
  },
  externalProbeState: {
    name: 'dwd_prober_external_probe_state',
    help: '1 for the current state of the address that the external probe tries: reachable, unreachable or unknown; 0 for the other states.',
    labels: [...perShoot, 'state'],
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
    help: 'Duration of a successful scale operation, from the start of its level until its pods have followed.',
    labels: ['direction'],
    buckets: [0.1, 0.3, 1, 3, 10, 30, 100, 300],
  },
  downSeconds: {
    name: 'dwd_prober_threshold_to_last_write_seconds',
    help: 'Time from the crossing of the threshold to each scale-down write.',
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
