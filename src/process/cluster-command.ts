import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import type { CallOptions, Kube, KubeClient } from '../kubernetes/api/kube.ts';
import { createKubeClient, retryThrottled } from '../kubernetes/client/index.ts';
import { type ForwardOptions, type PodPort, connectCluster, forwardPort } from '../kubernetes/connection/index.ts';
import type { ClusterAccess } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { systemClock } from './clock.ts';
import { userAgentOf } from './component.ts';
import { type Connecting, accessOf } from './connections.ts';

/** Input of a command that connects to one cluster, works and exits. */
export interface ClusterCommand extends Pick<Connecting, 'onConnect'> {
  /** Path of a kubeconfig. Absent: `$KUBECONFIG`, then the in-cluster service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Context of that kubeconfig. Absent: its current one. */
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Version of this program, for the User-Agent. */
  readonly version: string;
  /** Timeout of all waits together, and the longest one of a request, in milliseconds. */
  readonly timeoutMs: number;
  readonly progress: (line: string) => void;
  /** Aborts when the user stops the command. */
  readonly stop: AbortSignal;
}

/** What every step of a command works with. */
export interface CommandContext {
  readonly access: Pick<ClusterAccess, 'context' | 'endpoint'>;
  readonly client: KubeClient;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Forwards a port of a pod to this machine, with the same access. */
  readonly forward: ForwardToPod;
  /** Aborts when the user stops the command. */
  readonly signal: AbortSignal;
  /** Options of a request: that signal, and a timeout. */
  readonly options: CallOptions;
  /** Called with the current step, in one line. */
  readonly progress: (line: string) => void;
  /** Monotonic time at which waits end, in milliseconds. */
  readonly deadline: number;
}

/** `forwardPort` for the pods of one cluster. */
export type ForwardToPod = (
  find: (signal: AbortSignal) => Promise<PodPort>,
  options: Pick<ForwardOptions, 'signal' | 'port' | 'onProblem'>,
) => Promise<URL>;

/** A failure of a command, with a text for people: what it was asked to do cannot be done. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** Further lines of the message. */
  readonly details: readonly string[];
  readonly exitCode: number;

  constructor(message: string, details: readonly string[] = [], exitCode = 1) {
    super(message);
    this.details = details;
    this.exitCode = exitCode;
  }
}

const longestRequestMs = 30_000;

/** Connects to the cluster of the kubeconfig, runs `work` and disconnects. Rejects as `work` does, or with a KubeconfigError. */
export const withCluster = async <T>(
  command: ClusterCommand,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> => {
  const { timeoutMs, progress, stop: signal, logger } = command;
  const clock = systemClock();
  const userAgent = userAgentOf(command);
  const access = await accessOf({ ...command, clock });
  command.onConnect?.(access);
  const transport = connectCluster({ access, clock, logger, userAgent });
  try {
    const kube = retryThrottled(transport, clock);
    const forward: ForwardToPod = (find, options) => forwardPort(find, { ...options, access, clock, userAgent });
    const options = { signal, timeoutMs: Math.min(timeoutMs, longestRequestMs) };
    const deadline = clock.monotonic() + timeoutMs;
    const client = createKubeClient({ kube, clock });
    return await work({ access, client, kube, clock, userAgent, forward, signal, options, progress, deadline });
  } finally {
    transport.close();
  }
};

const advice: Readonly<Partial<Record<ApiError['code'], string>>> = {
  ConnectionError:
    'check that this is the right cluster (--kubeconfig, --context, $KUBECONFIG) and that this machine can reach it',
  Unauthorized: 'the credentials of the kubeconfig are invalid or expired: get new ones',
  Forbidden:
    'it takes the roles of an operator, which the chart has (operator.enabled): ask an administrator of the seed for it',
};

/** Like `withCluster`, but rejects with a CommandError of this exit code, unless there is a bug or no such shoot. */
export const onCluster = async <T>(
  command: ClusterCommand,
  work: (context: CommandContext) => Promise<T>,
  exitCode = 1,
): Promise<T> => {
  try {
    return await withCluster(command, work);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (command.stop.aborted) {
      throw new CommandError('interrupted before it was finished', ['run the command again to continue'], exitCode);
    }
    if (error instanceof KubeconfigError) throw new CommandError(error.message, [], exitCode);
    if (!(error instanceof ApiError)) throw error;
    const line = advice[error.code];
    throw new CommandError(error.message, line === undefined ? [] : [line], exitCode);
  }
};
