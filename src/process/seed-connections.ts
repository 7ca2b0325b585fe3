import { type Transport, authority } from '../kubernetes/transport/index.ts';
import { homedir } from 'node:os';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { type ClusterAccess, loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
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

/** Independent connections to the seed's API server, with the same credentials. */
export interface SeedConnections {
  readonly seed: Transport;
  /** Connection for the Lease alone. No other request occupies it, or closes it when the API server hangs on that request. */
  readonly election: Transport;
  close(): void;
}

const accessOf = async ({ flags, env, logger }: Connecting, clock: Clock): Promise<ClusterAccess> => {
  const { kubeconfig: path, context } = flags;
  const access = await loadOperatorKubeconfig({ path, context, env, homedir, clock });
  const { host, proxy } = access.endpoint;
  logger.info('seed', { source: access.source, context: access.context, host, proxy: proxy && authority(proxy) });
  return access;
};

/** Connects to the seed. Rejects with a KubeconfigError. */
export const connectSeed = async (from: Connecting, { clock, userAgent }: ConnectingWith): Promise<Transport> =>
  connectCluster({ access: await accessOf(from, clock), clock, logger: from.logger, userAgent });

/** Connects a process with leader election to the seed. Rejects with a KubeconfigError. */
export const connectElectingSeed = async (from: Connecting, options: ConnectingWith): Promise<SeedConnections> => {
  const access = await accessOf(from, options.clock);
  const connect = (): Transport => connectCluster({ ...options, access, logger: from.logger });
  const [seed, election] = [connect(), connect()];
  return {
    seed,
    election,
    close: () => {
      seed.close();
      election.close();
    },
  };
};
