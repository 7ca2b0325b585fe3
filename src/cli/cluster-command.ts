import type { CommandFailure } from '../install/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { systemClock } from '../process/index.ts';
import { createLogger } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import { CommandError } from './errors.ts';
import { bool, positiveDuration, text } from './flag-types.ts';
import { type FlagValues, flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';

/** Flags of commands that work on a cluster once. */
export const clusterFlags = (timeout: string) =>
  ({
    kubeconfig: optionalFlag(
      text('path', 'the path of a kubeconfig'),
      'Path of the kubeconfig for the cluster. Without it: $KUBECONFIG, then the in-cluster service account, then ~/.kube/config',
    ),
    'dry-run': flag(bool, 'false', 'Change nothing, and print the changes that would be made'),
    timeout: flag(positiveDuration, timeout, 'Maximum total time to wait'),
  }) as const;

/** Limit of characters of a progress line, because a line wider than the terminal cannot be cleared. */
const progressWidth = 78;

type ClusterFlagValues = FlagValues<ReturnType<typeof clusterFlags>>;

const ofAdmin = 'this needs the rights of cluster-admin: use a kubeconfig that has them';

/** Returns the input of a command that works on a cluster once. Its logger is silent, because the command prints a result at its end. */
export const clusterCommandOf = (flags: ClusterFlagValues, io: CliIo, forbidden = ofAdmin) => {
  const { kubeconfig, timeout: timeoutMs } = flags;
  return {
    kubeconfig,
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
