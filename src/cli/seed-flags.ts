import type { ClusterAccess } from '../kubernetes/kubeconfig/index.ts';
import { authority } from '../kubernetes/transport/index.ts';
import { systemClock } from '../process/index.ts';
import { createLogger } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import { UsageError } from './errors.ts';
import { bool, namespaceName, positiveDuration, shootName, shootNames, text } from './flag-types.ts';
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

const namespace = flag(namespaceName, 'garden', 'Namespace of the prober', 'n');

/** Flags that select the prober to which requests for the status go. */
export const leaderFlags = {
  selector: flag(text('labels', 'a label selector'), 'app=dwd-prober', 'Label selector of the pods of the prober'),
  leaderTimeoutMs: flag(
    positiveDuration,
    '1.5s',
    'Maximum time to wait for the status of the prober; after that, only the objects of the seed are used',
  ),
} as const;

/** Flags to reach a prober and its seed. */
export const statusFlags = {
  namespace,
  ...leaderFlags,
  ...accessFlags,
  timeoutMs: flag(positiveDuration, '10s', 'Timeout of a request to the seed'),
} as const;

/** Flags of the commands that control the prober of a seed: pause, resume and release. */
export const steerFlags = (timeout: string) =>
  ({
    shoot: optionalFlag(shootName, `Shoot, given as ${shootNames}`),
    all: flag(bool, 'false', 'Select all shoots of the seed'),
    namespace,
    ...accessFlags,
    timeoutMs: flag(positiveDuration, timeout, 'Maximum total time to wait'),
  }) as const;

/** Limit of characters of a progress line, because a line wider than the terminal cannot be cleared. */
const progressWidth = 78;

/** Says which cluster a command works on, once: a command that goes on connects again. */
export const namingCluster = (io: Pick<CliIo, 'stderr'>): ((access: ClusterAccess) => void) => {
  let told = '';
  return ({ source, context, endpoint }) => {
    const from = context === undefined ? source : `context ${context}, ${source}`;
    const line = `cluster: ${endpoint.protocol}//${authority(endpoint)}${endpoint.basePath} (${from})\n`;
    if (line !== told) io.stderr(line);
    told = line;
  };
};

/** Returns what every command on a cluster gets beside its flags. Its logger is silent, because the command prints a result at its end. */
export const sessionOf = (io: CliIo) => ({
  onConnect: namingCluster(io),
  env: io.env,
  logger: createLogger({ level: 'panic', encoder: 'console', write: io.stderr, clock: systemClock() }),
  version,
  progress: (line: string): void => io.progress?.(line.slice(0, progressWidth)),
  stop: io.stopOnSignals(),
});

/** Throws a UsageError unless exactly one of --shoot and --all is given. */
export const checkTarget = ({ shoot, all }: FlagValues<ReturnType<typeof steerFlags>>): void => {
  if ((shoot === undefined) === !all) throw new UsageError('give either --shoot or --all');
};
