import { homedir } from 'node:os';
import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import { commandStack, createKubeClient } from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { type ClusterAccess, loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { systemClock } from './clock.ts';
import { userAgentOf } from './component.ts';

/** Access of a command that connects to one cluster, works and exits. */
export interface OperatorAccess {
  /** Path of a kubeconfig. Absent: `$KUBECONFIG`, then the in-cluster service account, then `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** Context of that kubeconfig. Absent: its current one. */
  readonly context?: string | undefined;
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
}

/** Connects to the cluster of the kubeconfig, runs `work` and disconnects. Rejects as `work` does, or with a KubeconfigError. */
export const onOperatorCluster = async <T>(
  { kubeconfig: path, context, onConnect, env, logger, version }: OperatorAccess,
  work: (cluster: OperatorCluster) => Promise<T>,
): Promise<T> => {
  const clock = systemClock();
  const userAgent = userAgentOf({ version });
  const access = await loadOperatorKubeconfig({ path, context, env, homedir, clock });
  onConnect?.(access);
  const transport = connectCluster({ access, clock, logger, userAgent });
  try {
    const kube = commandStack(transport, clock);
    return await work({ client: createKubeClient({ kube, clock }), kube, clock, userAgent });
  } finally {
    transport.close();
  }
};
