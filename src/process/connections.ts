import { homedir } from 'node:os';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { type ClusterAccess, loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import { type Transport, authority } from '../kubernetes/transport/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { ProcessOptions } from './settings.ts';

/** How a process reaches its seed. */
export interface Connecting {
  readonly flags: Pick<ProcessOptions, 'kubeconfig' | 'context'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Called with the cluster before the first request. */
  readonly onConnect?: (access: ClusterAccess) => void;
}

type Access = Connecting['flags'] & Pick<Connecting, 'env' | 'clock'>;

/** Rejects with a KubeconfigError. */
export const accessOf = ({ kubeconfig: path, context, env, clock }: Access): Promise<ClusterAccess> =>
  loadOperatorKubeconfig({ path, context, env, homedir, clock });

/**
 * Finds the seed. Returns a function that connects to it: each connection is independent of the others, so that none is occupied or closed by requests of
 * another. Rejects with a KubeconfigError.
 */
export const findSeed = async (from: Connecting): Promise<() => Transport> => {
  const access = await accessOf({ ...from.flags, ...from });
  from.onConnect?.(access);
  const { host, proxy } = access.endpoint;
  from.logger.info('seed', { source: access.source, context: access.context, host, proxy: proxy && authority(proxy) });
  return () => connectCluster({ ...from, access });
};
