import type { CommandFailure } from '../process/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import type { ClusterAccess } from '../kubernetes/kubeconfig/index.ts';
import { authority } from '../kubernetes/transport/index.ts';
import { systemClock } from '../process/index.ts';
import { createLogger } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import { CommandError } from './errors.ts';
import { bool, positiveDuration, text } from './flag-types.ts';
import { type FlagValues, flag, optionalFlag } from './parse-flags.ts';
import { contextFlag } from './process-flags.ts';
import type { CliIo } from './io.ts';

/** Flags that select a cluster. */
export const accessFlags = {
  kubeconfig: optionalFlag(
    text('path', 'the path of a kubeconfig'),
    'Path of the kubeconfig for the cluster. Without it: $KUBECONFIG, then the in-cluster service account, then ~/.kube/config',
  ),
  context: contextFlag,
} as const;

/** Flags of commands that work on a cluster once. */
export const clusterFlags = (timeout: string) =>
  ({
    ...accessFlags,
    'dry-run': flag(bool, 'false', 'Change nothing, and print the changes that would be made'),
    timeout: flag(positiveDuration, timeout, 'Maximum total time to wait'),
  }) as const;

/** Limit of characters of a progress line, because a line wider than the terminal cannot be cleared. */
const progressWidth = 78;

type ClusterFlagValues = FlagValues<ReturnType<typeof clusterFlags>>;

const ofAdmin = 'this needs the rights of cluster-admin: use a kubeconfig that has them';

/** Says in a terminal which cluster a command works on; elsewhere its output is for programs. */
const namingCluster =
  (io: CliIo) =>
  ({ source, context, endpoint }: ClusterAccess): void => {
    if (io.progress === undefined) return;
    io.progress.clear();
    const from = context === undefined ? source : `context ${context}, ${source}`;
    io.stderr(`cluster: ${endpoint.protocol}//${authority(endpoint)}${endpoint.basePath} (${from})\n`);
  };

/** Returns the input of a command that works on a cluster once. Its logger is silent, because the command prints a result at its end. */
export const clusterCommandOf = (flags: ClusterFlagValues, io: CliIo, forbidden = ofAdmin) => {
  const { kubeconfig, context, timeout: timeoutMs } = flags;
  return {
    kubeconfig,
    context,
    onConnect: namingCluster(io),
    env: io.env,
    logger: createLogger({ level: 'panic', encoder: 'console', write: io.stderr, clock: systemClock() }),
    version,
    timeoutMs,
    dryRun: flags['dry-run'],
    progress: (line: string) => io.progress?.show(line.slice(0, progressWidth)),
    stop: io.stopOnSignals(),
    forbidden,
  };
};

/** Returns the value of a result. Throws a CommandError for a failure. */
export const valueOf = <T>(result: Result<T, CommandFailure>, io: CliIo): T => {
  io.progress?.clear();
  if (result.ok) return result.value;
  throw new CommandError(result.error.message, result.error.details);
};
