import { ApiError, KubeconfigError, type Result } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type OperatorAccess, onOperatorCluster } from '../process/index.ts';
import { type InstallContext, InstallError } from './context.ts';

/** What a command that works on a cluster once is given. */
export interface ClusterCommand extends OperatorAccess {
  /** For everything that is waited for together. */
  readonly timeoutMs: number;
  readonly progress: (line: string) => void;
  readonly stop: AbortSignal;
  /** What to do where a right is missing. */
  readonly forbidden: string;
}

/** Why a command could not do its work, in words for people. */
export interface CommandFailure {
  readonly message: string;
  /** More of it, a line each. */
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
  if (stop.aborted) return { message: 'stopped before it was finished', details: ['run it again to go on'] };
  if (error instanceof ApiError) {
    const line = error.code === 'Forbidden' ? forbidden : advice[error.code];
    return { message: error.message, details: line === undefined ? [] : [line] };
  }
  if (error instanceof KubeconfigError) return { message: error.message, details: [] };
  throw error;
};

const advice: Readonly<Partial<Record<ApiError['code'], string>>> = {
  ConnectionError: 'check that this is the right cluster (--kubeconfig, $KUBECONFIG) and can be reached from here',
  Unauthorized: 'the credentials of the kubeconfig are not valid, or no longer: get new ones',
};

/** Runs `work` on the cluster of the kubeconfig. What keeps it from its end is the answer, unless it is a bug. */
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
