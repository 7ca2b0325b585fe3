import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import type { CallOptions } from '../kubernetes/api/kube.ts';
import { type OperatorAccess, type OperatorCluster, onOperatorCluster } from './connections.ts';

/** Client, clock and limits of every step of a command. */
export interface CommandContext extends OperatorCluster {
  /** Aborts when the user stops the command. */
  readonly signal: AbortSignal;
  /** Called with the current step, in one line. */
  readonly progress: (line: string) => void;
  /** Monotonic time at which waits end, in milliseconds. */
  readonly deadline: number;
}

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

const requestTimeoutMs = 30_000;

export const callOptions = ({ signal }: Pick<CommandContext, 'signal'>): CallOptions => ({
  signal,
  timeoutMs: requestTimeoutMs,
});

/** Input of a command that connects to a cluster, works and exits. */
export interface ClusterCommand extends OperatorAccess {
  /** Timeout of all waits together, in milliseconds. */
  readonly timeoutMs: number;
  readonly progress: (line: string) => void;
  readonly stop: AbortSignal;
}

const advice: Readonly<Partial<Record<ApiError['code'], string>>> = {
  ConnectionError:
    'check that this is the right cluster (--kubeconfig, --context, $KUBECONFIG) and that this machine can reach it',
  Unauthorized: 'the credentials of the kubeconfig are invalid or expired: get new ones',
  Forbidden:
    'it takes the roles of an operator, which the chart has (operator.enabled): ask an administrator of the seed for it',
};

const failureOf = (error: unknown, stop: AbortSignal): unknown => {
  if (error instanceof CommandError) return error;
  if (stop.aborted) {
    return new CommandError('interrupted before it was finished', ['run the command again to continue']);
  }
  if (error instanceof KubeconfigError) return new CommandError(error.message);
  if (!(error instanceof ApiError)) return error;
  const line = advice[error.code];
  return new CommandError(error.message, line === undefined ? [] : [line]);
};

/** Connects to the cluster of the kubeconfig and runs `work`. Rejects with a CommandError, unless there is a bug or no such shoot. */
export const onCluster = async <T>(
  command: ClusterCommand,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> => {
  const { timeoutMs, progress, stop: signal } = command;
  try {
    return await onOperatorCluster(command, (cluster) =>
      work({ ...cluster, signal, progress, deadline: cluster.clock.monotonic() + timeoutMs }),
    );
  } catch (error) {
    throw failureOf(error, signal);
  }
};
