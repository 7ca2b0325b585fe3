import { homedir } from 'node:os';
import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import { createKubeClient, retryThrottled } from '../kubernetes/client/index.ts';
import { type ForwardOptions, type PodPort, connectCluster, forwardPort } from '../kubernetes/connection/index.ts';
import { type ClusterAccess, loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import { type Transport, authority } from '../kubernetes/transport/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { systemClock } from './clock.ts';
import { userAgentOf } from './component.ts';
import type { ProcessOptions } from './settings.ts';

export interface Connecting {
  readonly flags: Pick<ProcessOptions, 'kubeconfig' | 'context'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

interface ConnectingWith {
  readonly clock: Clock;
  readonly userAgent: string;
}

const accessOf = ({ flags, env }: Pick<Connecting, 'flags' | 'env'>, clock: Clock): Promise<ClusterAccess> =>
  loadOperatorKubeconfig({ path: flags.kubeconfig, context: flags.context, env, homedir, clock });

/**
 * Finds the seed. Returns a function that connects to it: each connection is independent of the others, so that none is occupied or closed by requests of
 * another. Rejects with a KubeconfigError.
 */
export const findSeed = async (from: Connecting, options: ConnectingWith): Promise<() => Transport> => {
  const { logger } = from;
  const access = await accessOf(from, options.clock);
  const { host, proxy } = access.endpoint;
  logger.info('seed', { source: access.source, context: access.context, host, proxy: proxy && authority(proxy) });
  return () => connectCluster({ ...options, access, logger });
};

/** Access of a command that connects to one cluster, works and exits. */
export interface OperatorAccess {
  /** Path of a kubeconfig. Absent: `$KUBECONFIG`, then the in-cluster service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Context of that kubeconfig. Absent: its current one. */
  readonly context?: string;
  /** Called with the cluster before the first request. */
  readonly onConnect?: (access: ClusterAccess) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Version of this program, for the User-Agent. */
  readonly version: string;
}

export interface OperatorCluster {
  readonly client: KubeClient;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Forwards a port of a pod to this machine, with the same access. */
  readonly forward: ForwardToPod;
}

/** `forwardPort` for the pods of one cluster. */
export type ForwardToPod = (
  find: (signal: AbortSignal) => Promise<PodPort>,
  options: Pick<ForwardOptions, 'signal' | 'port' | 'onProblem'>,
) => Promise<URL>;

/** Connects to the cluster of the kubeconfig, runs `work` and disconnects. Rejects as `work` does, or with a KubeconfigError. */
export const onOperatorCluster = async <T>(
  operator: OperatorAccess,
  work: (cluster: OperatorCluster) => Promise<T>,
): Promise<T> => {
  const { onConnect, env, logger } = operator;
  const clock = systemClock();
  const userAgent = userAgentOf(operator);
  const access = await accessOf({ flags: operator, env }, clock);
  onConnect?.(access);
  const transport = connectCluster({ access, clock, logger, userAgent });
  try {
    const kube = retryThrottled(transport, clock);
    const forward: ForwardToPod = (find, options) => forwardPort(find, { ...options, access, clock, userAgent });
    return await work({ client: createKubeClient({ kube, clock }), kube, clock, userAgent, forward });
  } finally {
    transport.close();
  }
};
