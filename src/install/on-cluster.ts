import { ApiError, KubeconfigError, type Result } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type OperatorAccess, onOperatorCluster } from '../process/index.ts';
import { type InstallContext, InstallError } from './context.ts';

/** Input of a command that connects to a cluster, works and exits. */
export interface ClusterCommand extends OperatorAccess {
  /** Timeout of all waits together, in milliseconds. */
  readonly timeoutMs: number;
  readonly progress: (line: string) => void;
  readonly stop: AbortSignal;
  /** Advice if a right is missing. */
  readonly forbidden: string;
}

/** Reason why a command failed, for people. */
export interface CommandFailure {
  readonly message: string;
  /** Further lines of the reason. */
  readonly details: readonly string[];
}

export interface Connected {
  readonly context: InstallContext;
  readonly kube: Kube;
  readonly userAgent: string;
}

type FailingCommand = Pick<ClusterCommand, 'stop' | 'forbidden'>;

const failureOf = (error: unknown, { stop, forbidden }: FailingCommand): CommandFailure => {
  if (error instanceof InstallError) return error;
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

const advice: Readonly<Partial<Record<ApiError['code'], string>>> = {
  ConnectionError:
    'check that this is the right cluster (--kubeconfig, --context, $KUBECONFIG) and that this machine can reach it',
  Unauthorized: 'the credentials of the kubeconfig are invalid or expired: get new ones',
};

/** Connects to the cluster of the kubeconfig and runs `work`. A failure is a result; rejects only for bugs. */
export const onCluster = async <T>(
  command: ClusterCommand,
  work: (connected: Connected) => Promise<T>,
): Promise<Result<T, CommandFailure>> => {
  const { timeoutMs, progress, stop: signal } = command;
  try {
    const value = await onOperatorCluster(command, ({ client, kube, clock, userAgent }) =>
      work({ context: { client, clock, signal, progress, deadline: clock.monotonic() + timeoutMs }, kube, userAgent }),
    );
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: failureOf(error, command) };
  }
};
