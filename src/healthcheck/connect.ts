import { homedir } from 'node:os';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import { commandStack } from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { systemClock, systemRandom } from '../process/index.ts';
import { type OpenSeedAccess, type SeedAccessOptions, createSeedAccess } from './seed-access.ts';

/** Options of `connect`. */
export interface ConnectOptions extends Pick<SeedAccessOptions, 'shootSecrets' | 'allowInsecureShoots'> {
  /** Environment variables, usually `process.env`: for `$KUBECONFIG` and the service account of the pod. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the seed's kubeconfig. Default: `$KUBECONFIG`, else the service account of the pod, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly logger: Logger;
  /** User-Agent of all requests. Default `dependency-watchdog-healthcheck`. */
  readonly userAgent?: string;
}

/** Access to a seed and its shoots, for `runHealthChecks`. `close` closes all connections. */
export type SeedConnection = OpenSeedAccess;

/** Replaces the flag of a program in the message of a KubeconfigError by the option `kubeconfig`. Throws the error. */
export const rethrowNamingOption = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replaceAll('--kubeconfig', 'the option kubeconfig'));
};

/**
 * Returns access to the seed and its shoots, with pooled connections, retries after a `Retry-After`, renewal of credentials, and the clock of the machine.
 * Reads the kubeconfig, but opens no connection yet. Rejects with a KubeconfigError that names the invalid field.
 */
export const connect = async (options: ConnectOptions): Promise<SeedConnection> => {
  const { env, kubeconfig, logger, userAgent = 'dependency-watchdog-healthcheck' } = options;
  const clock: Clock = systemClock();
  const path = kubeconfig === undefined ? {} : { path: kubeconfig };
  const access = await loadOperatorKubeconfig({ ...path, env, homedir, clock }).catch(rethrowNamingOption);
  const transport = connectCluster({ access, clock, logger, userAgent });
  const kube = commandStack(transport, clock);
  const seed = createSeedAccess({ ...options, clock, random: systemRandom(), kube, userAgent });
  return {
    ...seed,
    close: () => {
      seed.close();
      transport.close();
    },
  };
};
