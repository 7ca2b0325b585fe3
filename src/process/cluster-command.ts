import { ApiError, KubeconfigError, type Result } from '../kubernetes/api/errors.ts';
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

/** Reason why a command failed, for people. */
export interface CommandFailure {
  readonly message: string;
  /** Further lines of the reason. */
  readonly details: readonly string[];
}

/** Error with a text for people: what the command was asked to do cannot be done. */
export class CommandProblem extends Error implements CommandFailure {
  override readonly name = 'CommandProblem';
  readonly details: readonly string[];

  constructor(message: string, details: readonly string[] = []) {
    super(message);
    this.details = details;
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
  /** Advice if a right is missing. */
  readonly forbidden: string;
}

const advice: Readonly<Partial<Record<ApiError['code'], string>>> = {
  ConnectionError:
    'check that this is the right cluster (--kubeconfig, --context, $KUBECONFIG) and that this machine can reach it',
  Unauthorized: 'the credentials of the kubeconfig are invalid or expired: get new ones',
};

const failureOf = (error: unknown, { stop, forbidden }: ClusterCommand): CommandFailure => {
  if (error instanceof CommandProblem) return error;
  if (stop.aborted) {
    return { message: 'interrupted before it was finished', details: ['run the command again to continue'] };
  }
  if (error instanceof ApiError) {
    const line = error.code === 'Forbidden' ? forbidden : advice[error.code];
    return { message: error.message, details: line === undefined ? [] : [line] };
  }
  if (error instanceof KubeconfigError) return { message: error.message, details: [] };
  throw error;
};

/** Connects to the cluster of the kubeconfig and runs `work`. A failure is a result; rejects only for bugs. */
export const onCluster = async <T>(
  command: ClusterCommand,
  work: (context: CommandContext) => Promise<T>,
): Promise<Result<T, CommandFailure>> => {
  const { timeoutMs, progress, stop: signal } = command;
  try {
    const value = await onOperatorCluster(command, (cluster) =>
      work({ ...cluster, signal, progress, deadline: cluster.clock.monotonic() + timeoutMs }),
    );
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: failureOf(error, command) };
  }
};
