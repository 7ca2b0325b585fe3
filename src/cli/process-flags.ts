import { electionJitterFactor } from '../kubernetes/leaderelection/index.ts';
import type { ProcessOptions } from '../process/index.ts';
import { UsageError } from './errors.ts';
import { address, bool, duration, float, integer, logEncoder, logLevel, text } from './flag-types.ts';
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

export const limitFlags = {
  'kube-api-qps': flag(
    float,
    '5.0',
    'Maximum sustained requests per second to the seed; 0 means 5.0, -1 means no limit',
  ),
  'kube-api-burst': flag(integer({}), '10', 'Maximum burst of requests to the seed; 0 means 10'),
} as const;

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
  ...limitFlags,
  'concurrent-reconciles': flag(
    integer({}),
    '1',
    'Accepted, as a flag of the Go program, and has no effect here: a reconcile only starts or stops the work on a shoot or service, and takes no time',
  ),
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
    { ...text('namespace', 'the name of a namespace'), parse: (value) => ({ value }) },
    'garden',
    'Namespace of the leader-election Lease; empty means the namespace of the pod',
  ),
  'leader-elect-lease-duration': flag(
    duration,
    '15s',
    'Duration that non-leader candidates wait after the last observed renewal before they force acquire leadership',
  ),
  'leader-elect-renew-deadline': flag(
    duration,
    '10s',
    'Duration that the leader retries to renew the Lease before it gives up leadership; must be below the lease duration',
  ),
  'leader-elect-retry-period': flag(
    duration,
    '2s',
    'Duration between attempts to acquire or renew the Lease; 1.2 times this duration must be below the renew deadline',
  ),
  'seed-name': optionalFlag(
    text('name', 'a name'),
    'Name of the seed, which the prober shows in logs, Events, metrics and every view. Without it: the name in its Clusters',
  ),
  'zap-log-level': flag(logLevel, 'info', 'Minimum level of log lines: debug, info, error, panic, or a verbosity >= 0'),
  'zap-encoder': flag(logEncoder, 'json', 'Log encoding: json or console'),
  'dry-run': flag(bool, 'false', 'Do everything except the writes, and log each of them as "would have ..."'),
  'pprof-bind-addr': ignored('address'),
  'zap-devel': ignored('bool'),
  'zap-stacktrace-level': ignored('level'),
  'zap-time-encoding': ignored('encoding'),
} as const;

type AllValues = FlagValues<typeof processFlags>;

/** `concurrent-reconciles` has no effect, and care does not have it. */
export type ProcessFlagValues = Omit<AllValues, 'concurrent-reconciles'> &
  Partial<Pick<AllValues, 'concurrent-reconciles'>>;

const defaultQps = 5;
const defaultBurst = 10;

/** Values in force, and why some are others than were given. */
interface Judged<T> {
  readonly values: T;
  readonly warnings: readonly string[];
}

/**
 * The rate limit that client-go makes of its QPS, a float32, and Burst (`rest.RESTClientForConfigAndClient`): 0 is the default, and no limit is what is not
 * above 0. A negative burst lets no request through there; it never worked, so it is the default here.
 */
export const limitsFrom = (flags: FlagValues<typeof limitFlags>): Judged<Pick<ProcessOptions, 'qps' | 'burst'>> => {
  const { 'kube-api-qps': qps, 'kube-api-burst': burst } = flags;
  const isLimit = Math.fround(qps) >= 0 && Math.fround(qps) < Infinity;
  return {
    values: {
      qps: isLimit ? (Math.fround(qps) === 0 ? defaultQps : qps) : Infinity,
      burst: burst > 0 ? burst : defaultBurst,
    },
    warnings: [
      ...(isLimit || qps === -1 ? [] : [`flag --kube-api-qps=${qps} means no limit`]),
      ...(burst < 0 ? [`flag --kube-api-burst=${burst} is taken as ${defaultBurst}, the default`] : []),
    ],
  };
};

/** NewLeaderElector of client-go's tools/leaderelection makes the same checks. */
const leaderElectionProblem = (values: ProcessFlagValues): string | undefined => {
  const [lease, renew, retry] = [
    values['leader-elect-lease-duration'],
    values['leader-elect-renew-deadline'],
    values['leader-elect-retry-period'],
  ];
  if (renew >= lease) return 'flag --leader-elect-renew-deadline must be below --leader-elect-lease-duration';
  if (retry * electionJitterFactor >= renew) {
    return `flag --leader-elect-retry-period, times ${electionJitterFactor}, must be below --leader-elect-renew-deadline`;
  }
  // The renew deadline and the lease duration are above it.
  return retry > 0 ? undefined : 'flag --leader-elect-retry-period must be above 0';
};

/**
 * Converts flags to the options of a process. What the Go program runs runs here too, with a warning where the value given is not the one in force.
 * Throws a UsageError if the times of a leader election contradict each other.
 */
export const processOptionsFrom = (flags: ProcessFlagValues): Judged<ProcessOptions> => {
  const enabled = flags['enable-leader-election'];
  const problem = leaderElectionProblem(flags);
  if (enabled && problem !== undefined) throw new UsageError(problem);
  const limits = limitsFrom(flags);
  const { 'concurrent-reconciles': reconciles = 1 } = flags;
  return {
    values: {
      kubeconfig: flags.kubeconfig,
      context: flags.context,
      ...limits.values,
      metricsBindAddress: flags['metrics-bind-addr'],
      healthBindAddress: flags['health-bind-addr'],
      leaderElection: {
        enabled,
        namespace: flags['leader-election-namespace'],
        leaseDurationMs: flags['leader-elect-lease-duration'],
        renewDeadlineMs: flags['leader-elect-renew-deadline'],
        retryPeriodMs: flags['leader-elect-retry-period'],
      },
      dryRun: flags['dry-run'],
    },
    warnings: [
      ...limits.warnings,
      ...(reconciles < 1 ? [`flag --concurrent-reconciles=${reconciles} is taken as 1`] : []),
      ...(problem === undefined ? [] : [`${problem}; it has no effect without --enable-leader-election`]),
    ],
  };
};

/** Returns the given flags that have no effect. */
export const ignoredAmong = (given: readonly string[]): readonly string[] => {
  const flags: Readonly<Record<string, Flag<unknown>>> = processFlags;
  return given.filter((name) => flags[name]?.ignored === true).map((name) => `--${name}`);
};
