import type { Meter, MetricDefinition } from '../../ports/meter.ts';
import { isAnOutageKnown } from '../../status/state/judge-shoot.ts';
import type { Reachability } from '../judge/external-probe.ts';
import type { MeasuredShoot } from './shoot-record.ts';
import type { ShootStates } from './state.ts';

/** Returns a function that declares metrics with a series for each shoot: its label `namespace` is the name of the cluster. */
const perShoot =
  <M>(declare: (definition: MetricDefinition) => M) =>
  (name: string, help: string, ...labels: readonly string[]): M =>
    declare({ name, help, labels: ['namespace', ...labels] });

/** Declares what the report counts and measures. */
export const createMetrics = (meter: Meter) => {
  const counter = perShoot((definition) => meter.counter(definition));
  const gauge = perShoot((definition) => meter.gauge(definition));
  return {
    runs: counter('dwd_prober_runs_total', 'Probe runs by result.', 'result'),
    operations: counter(
      'dwd_prober_scale_operations_total',
      'Scale operations by direction and result.',
      'direction',
      'result',
    ),
    foreignChanges: counter(
      'dwd_prober_foreign_changes_undone_total',
      'Counts of another field manager that the prober has overwritten.',
      'resource',
      'manager',
    ),
    withoutLead: counter(
      'dwd_prober_protections_without_lead_total',
      'Scale-downs by a standby of what the leader had left up for 3 s.',
    ),
    externalAttempts: counter(
      'dwd_prober_external_probe_attempts_total',
      'Attempts of the external probe: answered, failed or unusable.',
      'result',
    ),
    clusterErrors: counter(
      'dwd_prober_cluster_decode_errors_total',
      'Times that the shoot in a Cluster could not be decoded.',
    ),
    bugs: counter('dwd_prober_unexpected_errors_total', 'Unexpected exceptions; each is a bug.'),
    candidates: gauge('dwd_prober_candidate_leases', 'Node leases that count, when nodes were last listed.'),
    expired: gauge('dwd_prober_expired_leases', 'Candidate leases that had expired, when nodes were last listed.'),
    skew: gauge('dwd_prober_clock_skew_seconds', "Clock of the shoot's API server minus the prober's, to a second."),
    late: gauge(
      'dwd_prober_late_protection_timestamp_seconds',
      'Unix time at which an outage was last unmet for five seconds with nothing held; no series if never.',
    ),
    interval: meter.gauge({
      name: 'dwd_prober_probe_interval_seconds',
      help: 'Configured probe interval.',
    }),
    runSeconds: meter.histogram({
      name: 'dwd_prober_run_duration_seconds',
      help: 'Duration of a probe run.',
      buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    }),
    operationSeconds: meter.histogram({
      name: 'dwd_prober_scale_operation_duration_seconds',
      help: 'Duration of a successful scale operation, until its pods have followed.',
      labels: ['direction'],
      buckets: [0.1, 0.3, 1, 3, 10, 30, 100, 300],
    }),
    downSeconds: meter.histogram({
      name: 'dwd_prober_threshold_to_last_write_seconds',
      help: 'Time from the threshold to each scale-down write.',
      buckets: [0.1, 0.3, 1, 2, 3, 5, 10, 30],
    }),
  };
};

/** What is true of the shoots may be this old at a scrape, in milliseconds: all gauges of a scrape share it. */
const factsAgeMs = 500;

export interface StateGaugesDeps {
  readonly meter: Meter;
  readonly states: ShootStates;
  /** True if this process leads. */
  readonly leads: () => boolean;
  /** Returns the names of the namespaces whose pause cannot be read. */
  readonly unreadablePauses: () => readonly string[];
}

const reachabilities: readonly Reachability[] = ['reachable', 'unreachable', 'unknown'];

/** Declares the gauges of what is true of the shoots, read at a scrape. Call it once per meter. */
export const showStates = (deps: StateGaugesDeps): void => {
  showShoots(deps);
  showVerdicts(deps);
  showReachability(deps);
  showOthers(deps);
};

/** Registers the gauges of each shoot's state, read at a scrape; no series where the value is undefined. */
const showShoots = ({ meter, states, leads }: StateGaugesDeps): void => {
  const gauge = (name: string, help: string, valueOf: (shoot: MeasuredShoot) => number | undefined): void => {
    const read = () =>
      states.all(factsAgeMs).probed.flatMap((shoot) => {
        const value = valueOf(shoot);
        return value === undefined ? [] : [{ value, labels: { namespace: shoot.row.namespace } }];
      });
    meter.gauge({ name, help, labels: ['namespace'], read });
  };
  gauge(
    'dwd_prober_grace_left_seconds',
    'Time left of the node monitor grace period at the latest scale-down write.',
    ({ row: { marginMs } }) => marginMs && marginMs / 1_000,
  );
  gauge('dwd_prober_held_resources', 'Resources that are held.', ({ row }) => row.held.length);
  gauge(
    'dwd_prober_held_since_timestamp_seconds',
    'Unix time since which a resource is held; no series while none is.',
    ({ heldSince }) => heldSince && Math.round(heldSince) / 1_000,
  );
  gauge(
    'dwd_prober_last_run_timestamp_seconds',
    'Unix time at which the last run ended, or the first one is due.',
    ({ lastRunAt }) => (Number.isFinite(lastRunAt) ? lastRunAt / 1_000 : undefined),
  );
  gauge('dwd_prober_flapping', '1 while the shoot is flapping.', ({ row }) => Number(row.flapping));
  gauge('dwd_prober_paused', '1 while the shoot, or all shoots, are paused.', ({ row }) => Number(row.paused !== null));
  gauge(
    'dwd_prober_outage_unmet',
    '1 while the shoot is losing nodes: an outage, and something that should be down is up, or may be.',
    ({ row }) => Number(row.state === 'losing nodes'),
  );
  gauge(
    'dwd_prober_blind_in_outage',
    '1 while the shoot is blind, and held or in an outage; only of the leader.',
    ({ row }) => (leads() && row.state === 'blind' && isAnOutageKnown(row) ? 1 : undefined),
  );
};

/** Registers the gauge of shoots by verdict. A verdict that no shoot has any more is shown with 0. */
const showVerdicts = ({ meter, states }: StateGaugesDeps): void => {
  const counts = new Map<string, number>();
  meter.gauge({
    name: 'dwd_prober_shoots',
    help: 'Shoots by latest verdict, as in dwd_prober_runs_total.',
    labels: ['verdict'],
    read: () => {
      for (const verdict of counts.keys()) counts.set(verdict, 0);
      for (const { verdict } of states.all(factsAgeMs).probed) {
        if (verdict !== undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      }
      return Array.from(counts, ([verdict, value]) => ({ value, labels: { verdict } }));
    },
  });
};

const showReachability = ({ meter, states }: StateGaugesDeps): void => {
  meter.gauge({
    name: 'dwd_prober_external_probe_state',
    help: '1 for the current state of the public address: reachable, unreachable or unknown; 0 for the others.',
    labels: ['namespace', 'state'],
    read: () =>
      states
        .all(factsAgeMs)
        .probed.flatMap(({ row: { namespace, publicAddress } }) =>
          publicAddress === undefined
            ? []
            : reachabilities.map((state) => ({ value: Number(state === publicAddress), labels: { namespace, state } })),
        ),
  });
};

/** Only the leader reports what it does not see: a standby that is cut off itself would raise alerts about shoots that the leader sees. */
const showOthers = ({ meter, states, leads, unreadablePauses }: StateGaugesDeps): void => {
  meter.gauge({
    name: 'dwd_prober_probers',
    help: 'Shoots that are probed, or whose held resources are being released.',
    read: () => [{ value: states.all(factsAgeMs).probed.length, labels: {} }],
  });
  meter.gauge({
    name: 'dwd_prober_seed_info',
    help: 'Always 1; the name of the seed, from --seed-name or its Clusters. No series without one.',
    labels: ['seed'],
    read: () => {
      const seed = states.seed();
      return seed === undefined ? [] : [{ value: 1, labels: { seed } }];
    },
  });
  meter.gauge({
    name: 'dwd_prober_unprotected',
    help: '1 while an outage would not be met, or what is held not be restored; only of the leader.',
    labels: ['namespace', 'reason'],
    read: () =>
      (leads() ? states.all(factsAgeMs).probed : []).flatMap(({ row: { namespace, causes } }) =>
        causes.map((reason) => ({ value: 1, labels: { namespace, reason } })),
      ),
  });
  meter.gauge({
    name: 'dwd_prober_held_unprobed',
    help: 'Held resources of a shoot that is not probed: they are being given back, or nothing restores them; only of the leader.',
    labels: ['namespace'],
    read: () =>
      (leads() ? states.rows(factsAgeMs) : [])
        .filter(({ notProbed, held }) => notProbed !== undefined && held.length > 0)
        .map(({ namespace, held }) => ({ value: held.length, labels: { namespace } })),
  });
  meter.gauge({
    name: 'dwd_prober_pause_unreadable',
    help: '1 while a pause cannot be read; in the namespace of the prober: that of all.',
    labels: ['namespace'],
    read: () => unreadablePauses().map((namespace) => ({ value: 1, labels: { namespace } })),
  });
};
