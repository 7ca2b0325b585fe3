import type { ProcessOptions } from '../process/index.ts';
import type { LogEncoder, LogLevel } from '../telemetry/index.ts';
import { UsageError } from './errors.ts';
import { address, bool, integer, logEncoder, logLevel, positiveDuration, rate, text } from './flag-types.ts';
import { type Flag, type FlagValues, flag, optionalFlag, requiredFlag } from './parse-flags.ts';

const ignored = (placeholder: string): Flag<undefined> => ({
  type: { placeholder, takes: 'anything', parse: () => ({ value: undefined }), bare: placeholder === 'bool' },
  description: '',
  ignored: true,
});

/** Flags of every component. Names, types and defaults are those of the Go program. */
export const processFlags = {
  'config-file': requiredFlag(text('path', 'the path of the configuration file'), 'Configuration of the component'),
  strict: flag(bool, 'false', 'An unknown field of the configuration is an error instead of a warning'),
  kubeconfig: optionalFlag(
    { ...text('path', 'the path of a kubeconfig'), parse: (value) => ({ value: value === '' ? undefined : value }) },
    'How to reach the seed. Without it: $KUBECONFIG, then the in-cluster service account, then ~/.kube/config',
  ),
  'kube-api-qps': flag(rate, '5.0', 'Sustained requests per second to the seed; 0 means 5.0, -1 no limit'),
  'kube-api-burst': flag(integer({ min: 0 }), '10', 'Requests above the sustained rate; 0 means 10'),
  'concurrent-reconciles': flag(integer({ min: 1 }), '1', 'Objects that are reconciled at the same time'),
  'metrics-bind-addr': flag(address, ':9643', 'Where Prometheus metrics are served at /metrics; 0 turns it off'),
  'health-bind-addr': flag(
    address,
    ':9644',
    'Where /healthz, /readyz and, of the prober, /status are served; 0 turns it off',
  ),
  'enable-leader-election': flag(
    bool,
    'false',
    'Only one of several replicas is active at a time, the holder of a Lease',
  ),
  'leader-election-namespace': flag(
    text('namespace', 'the name of a namespace'),
    'garden',
    'Namespace of the Lease by which the leader is elected',
  ),
  'leader-elect-lease-duration': flag(
    positiveDuration,
    '15s',
    'How long others wait for a leader that no longer renews before they take over',
  ),
  'leader-elect-renew-deadline': flag(
    positiveDuration,
    '10s',
    'How long a leader that cannot renew goes on; below the lease duration',
  ),
  'leader-elect-retry-period': flag(
    positiveDuration,
    '2s',
    'Time between two attempts; 1.2 times it is below the renew deadline',
  ),
  'zap-log-level': flag(logLevel, 'info', 'Least severe log lines to print: debug, info, error, panic or a verbosity'),
  'zap-encoder': flag(logEncoder, 'json', 'Form of the log: json or console'),
  'dry-run': flag(bool, 'false', 'Do everything but the writes, and tell them as "would have ..."'),
  'pprof-bind-addr': ignored('address'),
  'zap-devel': ignored('bool'),
  'zap-stacktrace-level': ignored('level'),
  'zap-time-encoding': ignored('encoding'),
} as const;

export type ProcessFlagValues = FlagValues<typeof processFlags>;

export const defaultQps = 5;
export const defaultBurst = 10;
/** JitterFactor of client-go's tools/leaderelection. NewLeaderElector there makes the same checks. */
const jitterFactor = 1.2;

const checkLeaderElection = (values: ProcessFlagValues): void => {
  const [lease, renew, retry] = [
    values['leader-elect-lease-duration'],
    values['leader-elect-renew-deadline'],
    values['leader-elect-retry-period'],
  ];
  if (renew >= lease) {
    throw new UsageError('flag --leader-elect-renew-deadline must be below --leader-elect-lease-duration');
  }
  if (retry * jitterFactor >= renew) {
    throw new UsageError(
      `flag --leader-elect-retry-period, times ${jitterFactor}, must be below --leader-elect-renew-deadline`,
    );
  }
};

/** Converts flags to the options of a process. Throws a UsageError if flags contradict each other. */
export const processOptionsFrom = (values: ProcessFlagValues): ProcessOptions => {
  checkLeaderElection(values);
  const { kubeconfig } = values;
  const [metrics, health] = [values['metrics-bind-addr'], values['health-bind-addr']];
  return {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    qps: values['kube-api-qps'] || defaultQps,
    burst: values['kube-api-burst'] || defaultBurst,
    concurrentReconciles: values['concurrent-reconciles'],
    ...(metrics === undefined ? {} : { metricsBindAddress: metrics }),
    ...(health === undefined ? {} : { healthBindAddress: health }),
    leaderElection: {
      enabled: values['enable-leader-election'],
      namespace: values['leader-election-namespace'],
      leaseDurationMs: values['leader-elect-lease-duration'],
      renewDeadlineMs: values['leader-elect-renew-deadline'],
      retryPeriodMs: values['leader-elect-retry-period'],
    },
    dryRun: values['dry-run'],
  };
};

export interface LogOptions {
  readonly level: LogLevel;
  readonly encoder: LogEncoder;
}

export const logOptionsFrom = (values: ProcessFlagValues): LogOptions => ({
  level: values['zap-log-level'],
  encoder: values['zap-encoder'],
});

/** Returns the given flags that have no effect. */
export const ignoredAmong = (given: readonly string[]): readonly string[] => {
  const flags: Readonly<Record<string, Flag<unknown>>> = processFlags;
  return given.filter((name) => flags[name]?.ignored === true).map((name) => `--${name}`);
};
