import type { ProcessOptions } from '../process/index.ts';
import { UsageError } from './errors.ts';
import { address, bool, integer, logEncoder, logLevel, positiveDuration, rate, text } from './flag-types.ts';
import { type Flag, type FlagValues, flag, optionalFlag, requiredFlag } from './parse-flags.ts';

const ignored = (placeholder: string): Flag<undefined> => ({
  type: { placeholder, takes: 'anything', parse: () => ({ value: undefined }), bare: placeholder === 'bool' },
  description: '',
  ignored: true,
});

export const contextFlag = optionalFlag(
  text('name', 'the name of a context'),
  'Context of the kubeconfig. Without it: its current context',
);

/** Flags of every component. Names, types and defaults are those of the Go program. */
export const processFlags = {
  'config-file': requiredFlag(
    text('path', 'the path of the configuration file'),
    "Path of the component's configuration file",
  ),
  strict: flag(bool, 'false', 'Report unknown fields of the configuration as errors instead of warnings'),
  kubeconfig: optionalFlag(
    { ...text('path', 'the path of a kubeconfig'), parse: (value) => ({ value: value === '' ? undefined : value }) },
    'Path of the kubeconfig for the seed. Without it: $KUBECONFIG, then the in-cluster service account, then ~/.kube/config',
  ),
  context: contextFlag,
  'kube-api-qps': flag(
    rate,
    '5.0',
    'Maximum sustained requests per second to the seed; 0 means 5.0, -1 means no limit',
  ),
  'kube-api-burst': flag(integer({ min: 0 }), '10', 'Maximum burst of requests to the seed; 0 means 10'),
  'concurrent-reconciles': flag(integer({ min: 1 }), '1', 'Maximum number of concurrent reconciles'),
  'metrics-bind-addr': flag(address, ':9643', 'Address that the metrics endpoint (/metrics) binds to; 0 turns it off'),
  'health-bind-addr': flag(
    address,
    ':9644',
    'Address that the health endpoints bind to: /healthz, /readyz and, for the prober, /status; 0 turns them off',
  ),
  'enable-leader-election': flag(
    bool,
    'false',
    'Enable leader election, so that only one replica, the holder of a Lease, is active at a time',
  ),
  'leader-election-namespace': flag(
    text('namespace', 'the name of a namespace'),
    'garden',
    'Namespace of the leader-election Lease',
  ),
  'leader-elect-lease-duration': flag(
    positiveDuration,
    '15s',
    'Duration that non-leader candidates wait after the last observed renewal before they force acquire leadership',
  ),
  'leader-elect-renew-deadline': flag(
    positiveDuration,
    '10s',
    'Duration that the leader retries to renew the Lease before it gives up leadership; must be below the lease duration',
  ),
  'leader-elect-retry-period': flag(
    positiveDuration,
    '2s',
    'Duration between attempts to acquire or renew the Lease; 1.2 times this duration must be below the renew deadline',
  ),
  'zap-log-level': flag(logLevel, 'info', 'Minimum level of log lines: debug, info, error, panic, or a verbosity >= 0'),
  'zap-encoder': flag(logEncoder, 'json', 'Log encoding: json or console'),
  'dry-run': flag(bool, 'false', 'Do everything except the writes, and log each of them as "would have ..."'),
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
  const { kubeconfig, context } = values;
  const [metrics, health] = [values['metrics-bind-addr'], values['health-bind-addr']];
  return {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
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

/** Returns the given flags that have no effect. */
export const ignoredAmong = (given: readonly string[]): readonly string[] => {
  const flags: Readonly<Record<string, Flag<unknown>>> = processFlags;
  return given.filter((name) => flags[name]?.ignored === true).map((name) => `--${name}`);
};
